"""Properties run the same way every time, and take the time they need."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "game", deadline=None, derandomize=True, database=None, max_examples=40, suppress_health_check=list(HealthCheck)
)
settings.load_profile("game")
