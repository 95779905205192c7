"""Models for data that most runs do not read."""

from pydantic import BaseModel, ConfigDict


class LaterModel(BaseModel):
    """Its validators are made on first use. Validators of profiles and of the measurements of
    `tune` take 20 of the 300 ms for which `isthmus run` computes (2026-11)."""

    model_config = ConfigDict(defer_build=True)
