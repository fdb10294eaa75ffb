"""One file per encoding: every module in this folder is imported, and so registered."""

import importlib
import pkgutil

for module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(module.name)
