"""Models of what most runs do not read."""

from pydantic import BaseModel, ConfigDict


class LaterModel(BaseModel):
    """Its validators are made when they are first wanted: those of a profile and of what `tune`
    measured take 20 ms of the 300 for which `isthmus run` computes (2026-11)."""

    model_config = ConfigDict(defer_build=True)
