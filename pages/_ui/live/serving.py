"""What a server does for the components: routes, announcements, and what it counts and holds."""

from pages._ui.live.ahead import get_ready, middleware
from pages._ui.live.assets import routes
from pages._ui.live.counts import sent
from pages._ui.live.shelf import shelf

__all__ = ["get_ready", "middleware", "routes", "sent", "shelf"]
