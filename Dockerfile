# Built by hand; nothing here builds it:
#   docker build -t paddletorch .
#   docker run --rm -v "$PWD:/src" -u "$(id -u):$(id -g)" paddletorch convert --to paddle --diff .
# It holds neither torch nor Paddle: reports and conversions need none.
FROM python:3.12-slim

COPY pyproject.toml README.md LICENSE /build/
COPY migrate /build/migrate
COPY rules /build/rules
COPY shim /build/shim
COPY docs/rules /build/docs/rules
RUN pip install --no-cache-dir "/build[watch]" && rm -rf /build

ENV XDG_CACHE_HOME=/tmp/cache
WORKDIR /src
ENTRYPOINT ["paddletorch"]
