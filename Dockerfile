FROM debian:bookworm-slim

RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --home-dir /srv/coinche coinche

WORKDIR /srv/coinche

# The packages change seldom, so they come first. Valkey and Postgres are services of their own here: no extra "embedded".
COPY pyproject.toml constraints.txt README.md LICENSE ./
RUN mkdir app \
    && touch app/__init__.py \
    && python3 -m venv .venv \
    && .venv/bin/pip install --no-cache-dir --editable . --constraint constraints.txt

COPY app app
COPY migrations migrations
COPY static static

USER coinche
ENV PATH=/srv/coinche/.venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    COINCHE_HOST=0.0.0.0
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["python3", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:' + os.environ.get('COINCHE_PORT', '8000') + '/health/live', timeout=2)"]
CMD ["coinche", "serve"]
