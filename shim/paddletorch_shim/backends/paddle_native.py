"""placeholder"""

from paddletorch_shim.backends.paddle_reference import Backend  # noqa
