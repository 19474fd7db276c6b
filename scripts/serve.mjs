/** Serves a folder on localhost. */

import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";
import { Failure } from "./lib/run.mjs";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".json": "application/json",
};

/** The port to begin with: `PORT`, or 8000. */
export function port() {
  const asked = Number(process.env.PORT ?? 8000);
  if (Number.isInteger(asked) && asked >= 0 && asked < 65536) return asked;
  throw new Failure(`PORT is ${process.env.PORT}, which is no port`, "unset PORT");
}

/** Listens on the first free port from `port` on; 0 takes any. Gives `{ url, close }`. */
export async function serve(folder, port = 0) {
  const server = createServer((request, response) => answer(folder, request, response));
  for (let tried = port; ; tried++) {
    try {
      await listen(server, tried);
      break;
    } catch (error) {
      if (error.code !== "EADDRINUSE" || tried >= port + 100) throw error;
    }
  }
  const url = `http://localhost:${server.address().port}/`;
  return { url, close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()) };
}

function listen(server, port) {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "localhost", () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function answer(folder, request, response) {
  const refuse = (status, text) =>
    response.writeHead(status, { "content-type": "text/plain" }).end(`${text}\n`);
  if (request.method !== "GET" && request.method !== "HEAD") return refuse(405, "only GET and HEAD");
  let path;
  try {
    path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
  } catch {
    return refuse(400, "no such address");
  }
  const file = normalize(join(folder, path.endsWith("/") ? `${path}index.html` : path));
  const inside = file.startsWith(folder + sep) && !file.includes("\0");
  if (!inside || !existsSync(file) || !statSync(file).isFile()) return refuse(404, "not found");
  response.writeHead(200, {
    "content-type": TYPES[extname(file)] ?? "application/octet-stream",
    "cache-control": "no-store",
  });
  if (request.method === "HEAD") return response.end();
  createReadStream(file)
    .on("error", () => response.destroy())
    .pipe(response);
}
