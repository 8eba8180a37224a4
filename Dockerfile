# docker build -t smemlint . && docker run --rm --network none -v "$PWD:/src:ro" smemlint .
FROM python:3.12-slim
COPY . /smemlint
RUN pip install --no-cache-dir /smemlint && rm -rf /smemlint && useradd --create-home lint
USER lint
WORKDIR /src
ENTRYPOINT ["smemlint"]
