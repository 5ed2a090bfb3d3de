"""How is this coinche set up? The environment, read once by the command line."""

from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.origins import SiteUrl, read_origin, read_url

_SQL_SCHEMES = ("postgresql+asyncpg://", "postgresql://", "postgres://")


class Settings(BaseSettings):
    """What an operator may choose. Each field is the environment variable COINCHE_<FIELD>, but for the two URLs."""

    model_config = SettingsConfigDict(env_prefix="COINCHE_", env_ignore_empty=True, frozen=True, populate_by_name=True)

    host: str = Field("127.0.0.1", description="Address to listen on; 0.0.0.0 lets others on your network in")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one")
    data: Path = Field(Path(".data"), description="Folder for the built-in Valkey and Postgres: games, players, history")
    url: str | None = Field(
        None,
        description="The public address, where it has one, as in https://coinche.example.org or https://example.org/coinche",
    )
    origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Further addresses, separated by commas, by which it is reached, as in https://cards.example.org"
    )
    proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Addresses or networks, separated by commas, of proxies that are believed about who asks and how"
    )
    cors: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Addresses, separated by commas, whose pages may use the API with a token, or *; never with a cookie"
    )
    hooks_inside: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Addresses or networks of your own, separated by commas, that hooks may reach, also without TLS"
    )
    limits: bool = Field(True, description="Answer who asks too often with 429")
    metrics_token: str | None = Field(
        None,
        min_length=16,
        description="A secret of at least 16 letters; who shows it as bearer token may read /metrics and all of /health/ready",
    )
    work: bool = Field(
        True, description="Do the house's work in the serving processes too; false where `coinche worker` runs beside them"
    )
    redis_wait: int = Field(
        0, ge=0, le=10, description="So many replicas of the Valkey or Redis must have a move before it is acknowledged"
    )
    table_days: int = Field(
        14, ge=2, description="Days after which a table is forgotten where nobody is connected and nothing happens"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="How much is logged")
    redis_url: str | None = Field(
        None,
        validation_alias=AliasChoices("REDIS_URL"),
        description="A Valkey 8 or Redis 7 of your own, in place of the built-in one; "
        "redis+cluster://host:port,host:port for a cluster",
    )
    database_url: str | None = Field(
        None,
        validation_alias=AliasChoices("DATABASE_URL"),
        description="A Postgres 15 or newer of your own, in place of the built-in one",
    )

    @field_validator("url")
    @classmethod
    def _normalise_url(cls, value: str | None) -> str | None:
        return None if value is None else read_url(value.strip()).url

    @field_validator("origins", "cors", mode="before")
    @classmethod
    def _normalise_origins(cls, value: Any, info: ValidationInfo) -> Any:
        given = [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value
        return tuple(one if one == "*" and info.field_name == "cors" else read_origin(one) for one in given)

    @property
    def site(self) -> SiteUrl | None:
        """The public address in its parts."""
        return None if self.url is None else read_url(self.url)

    @field_validator("proxies", "hooks_inside", mode="before")
    @classmethod
    def _split_addresses(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        # Written as the networks they are, so that what is no address is not silently believed to be a name.
        return tuple(str(ip_network(part.strip())) for part in value.split(",") if part.strip())

    @field_validator("database_url")
    @classmethod
    def _name_the_driver(cls, url: str | None) -> str | None:
        if url is None:
            return None
        for scheme in _SQL_SCHEMES:
            if url.startswith(scheme):
                return _SQL_SCHEMES[0] + url.removeprefix(scheme)
        raise ValueError("must begin with postgresql://")


def variable(field: str) -> str:
    """The environment variable that sets a field of Settings."""
    alias = Settings.model_fields[field].validation_alias
    return str(alias.choices[0]) if isinstance(alias, AliasChoices) else f"COINCHE_{field.upper()}"


def read() -> Settings:
    """The settings of this process. Raises ValueError with one line for the operator when one cannot be used."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        field = str(first["loc"][0])
        name = variable(field) if field in Settings.model_fields else field
        # A URL or a token is a secret, or may hold a password.
        given = "" if name in ("REDIS_URL", "DATABASE_URL") or name.endswith("_TOKEN") else f"={first['input']}"
        raise ValueError(f"{name}{given}: {first['msg'].removeprefix('Value error, ')}") from None
