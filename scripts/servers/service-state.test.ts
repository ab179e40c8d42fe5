import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { allServices } from "./all-services.ts";
import { readOwnProcess, writeOwnProcess } from "./own-process.ts";
import { findService } from "./service-state.ts";
import { listenOnLoopback } from "./stand-in.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stepfold-services-"));
  for (const { name } of allServices) mkdirSync(join(folder, name));
  vi.stubEnv("STEPFOLD_SERVICES_FOLDER", folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

describe("findService", () => {
  it.each(allServices)("does not take a port for $name because somebody answers there", async (service) => {
    // The server ends each connection at once, so every client sees that it is not the expected server.
    const other = createServer((_request, response) => response.writeHead(404).end("<html>"));
    other.on("connection", (socket) => socket.end("HTTP/1.1 404 Not Found\r\n\r\n"));
    const { url, close } = await listenOnLoopback(other, "http");
    vi.stubEnv(service.urlVariable, "");
    vi.stubEnv(service.portVariable, new URL(url).port);
    expect(await findService(service)).toMatchObject({
      kind: "not there",
      reason: expect.stringContaining(`does not answer as ${service.name}`),
    });
    await close();
    expect(await findService(service)).toMatchObject({ kind: "not there", reason: expect.stringContaining("nothing listens") });
  });

  it.each(allServices)("asks only the $name that the environment names", async (service) => {
    const url = service.url(3);
    vi.stubEnv(service.urlVariable, url);
    expect(await findService(service)).toMatchObject({ kind: "not there", url, reason: expect.stringContaining("ECONNREFUSED") });
  });
});

describe.skipIf(process.platform !== "linux")("a pid file", () => {
  it("holds while the process runs, and not for another one with its pid", () => {
    const own = writeOwnProcess("redis", { pid: process.pid, port: 1, stopSignal: "SIGTERM" });
    expect(readOwnProcess("redis")).toEqual(own);
    const parent = writeOwnProcess("redis", { pid: process.ppid, port: 1, stopSignal: "SIGTERM" });
    expect(parent.startTime).not.toBe(own.startTime);
    writeOwnProcess("redis", { ...own, pid: 2 ** 22 + 1 });
    expect(readOwnProcess("redis")).toBe(undefined);
    expect(readOwnProcess("postgres")).toBe(undefined);
  });
});
