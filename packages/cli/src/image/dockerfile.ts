import { imageUser } from './operator-image.js';

/** What {@link dockerfile} takes. */
export interface DockerfileOptions {
  readonly base: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * A Dockerfile that builds the same image as `riata image`, for those who build with Docker. The command begins with an
 * option: both distroless images and Docker's `node` hand it to Node.
 */
export function dockerfile({ base, labels }: DockerfileOptions): string {
  const lines = Object.entries(labels).map(([name, value]) => `LABEL ${name}=${JSON.stringify(value)}`);
  return `# Made by riata image --dockerfile. Keep node_modules and dist in .dockerignore.
FROM --platform=$BUILDPLATFORM node:22-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npx riata image --bundle /app

FROM ${base}
COPY --from=build /app /app
WORKDIR /app
USER ${imageUser}
ENV NODE_ENV=production
${lines.join('\n')}
CMD ["--enable-source-maps", "/app/main.mjs"]`;
}
