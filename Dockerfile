# The packages and the program are put together in the first stage; only what runs goes into the second.
FROM debian:bookworm-slim AS builder

RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /srv/coinche

# The packages change seldom, so they come first. Valkey and Postgres are services of their own here: no extra "embedded".
COPY pyproject.toml constraints.txt README.md LICENSE ./
RUN mkdir app \
    && touch app/__init__.py \
    && python3 -m venv .venv \
    && .venv/bin/pip install --no-cache-dir --editable . --constraint constraints.txt \
    && .venv/bin/pip uninstall --yes setuptools pip \
    && rm -rf *.egg-info

COPY app app
COPY migrations migrations
COPY static static
# Nobody may write here later, so what Python would keep of each module is made now.
RUN .venv/bin/python -m compileall -q --invalidation-mode unchecked-hash .venv/lib app migrations


FROM debian:bookworm-slim

# The certificates are for a Valkey or Postgres that is reached over TLS.
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates python3 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin --uid 10001 coinche

WORKDIR /srv/coinche
COPY --from=builder /srv/coinche /srv/coinche

ENV PATH=/srv/coinche/.venv/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    COINCHE_HOST=0.0.0.0
USER 10001:10001
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 CMD ["python3", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:' + os.environ.get('COINCHE_PORT', '8000') + '/health/live', timeout=2)"]
CMD ["coinche", "serve"]
