FROM python:3.12-slim
WORKDIR /headrace
ENV PYTHONUNBUFFERED=1 HEADRACE_COMPRESS=1 HEADRACE_HOME=/var/lib/headrace HEADRACE_JARS=/headrace/jars
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt
COPY ingest ingest
COPY tools tools
RUN python -m tools.jars jars
COPY . .
RUN python manage.py collectstatic --noinput --skip-checks \
    && rm -f /var/lib/headrace/secret.key
CMD ["uvicorn", "console.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--lifespan", "off"]
