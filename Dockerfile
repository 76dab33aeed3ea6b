# The image of the service: Node on glibc (uWebSockets.js does not run on musl), the built server and what it loads at run
# time. It runs as an unprivileged user.
#
#   docker build -t switchboard .
#   docker run --rm -p 3000:3000 -e NODE_ENV=development switchboard        # to try it: embedded storage, lost with the container
#
# In production it reads its settings from the environment and lists what is missing; config/compose.yaml and
# config/kubernetes.yaml show both. Add `-v switchboard:/data` to keep embedded storage.

FROM node:24-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# Without scripts: this package's own script builds from sources that are copied only in a later layer.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY config config
COPY scripts scripts
COPY docs docs
COPY machines machines
COPY packages/echo packages/echo
COPY src src
ARG SWITCHBOARD_REPOSITORY
RUN npm run build

# A separate stage: native parts must match the image's platform, and a changed source must not download them again.
FROM node:24-trixie-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# Without werift, which only the echo needs: the echo is for development, where it answers only calls from the same machine.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && npm uninstall werift --no-save --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24-trixie-slim
ARG SWITCHBOARD_REPOSITORY
LABEL org.opencontainers.image.title="Switchboard" org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.description="A session broker for real-time voice agents" \
  org.opencontainers.image.source="$SWITCHBOARD_REPOSITORY"
# Without HOST, a service that is not in production listens only on loopback, which cannot be reached from outside a container.
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /app
RUN install -d -o node -g node /data
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
COPY config/tenants.json config/tenants.json
# A number, so that Kubernetes can verify that the user is not root.
USER 1000:1000
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 3000) + '/healthz').then((reply) => process.exit(reply.ok ? 0 : 1), () => process.exit(1))"]
# Without a shell or npm in between, so that SIGTERM reaches the service.
CMD ["node", "--enable-source-maps", "dist/main.js"]
