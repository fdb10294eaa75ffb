"""One file an encoding: being in this folder is all that it takes to be registered."""

import importlib
import pkgutil

for module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(module.name)
