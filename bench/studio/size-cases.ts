import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { bundled } from "../bundled.ts";
import { ownCheckout } from "../library.ts";
import { type Case, spread } from "../measure.ts";
import { pagesFolder } from "./shown-studio.ts";

const kilobyte = 1024;
const megabyte = kilobyte ** 2;
const windows = process.platform === "win32";

/** All files below a folder, as paths. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path).isFile());
}

const pages: Case = {
  once: true,
  async sample() {
    const files = filesBelow(pagesFolder).filter((path) => !path.endsWith(".woff2"));
    return { kb: files.reduce((sum, path) => sum + gzipSync(readFileSync(path), { level: 9 }).byteLength, 0) / kilobyte };
  },
};

const client: Case = { once: true, sample: () => bundled('export { createClient } from "stepfold/client";') };

/** The files of a package as it would be published. */
function packedFiles(folder: string): readonly { readonly path: string; readonly size: number }[] {
  const args = ["pack", "--json", "--dry-run", "--ignore-scripts", join(ownCheckout, "packages", folder)];
  const [packed] = JSON.parse(execFileSync("npm", args, { encoding: "utf8", shell: windows, stdio: ["ignore", "pipe", "ignore"] })) as [
    { readonly files: readonly { readonly path: string; readonly size: number }[] },
  ];
  return packed.files;
}

const sum = (sizes: readonly number[]): number => sizes.reduce((all, size) => all + size, 0) / megabyte;

/** What an install has more, unpacked, because of the server, its packages, the client and the pages. */
const install: Case = {
  once: true,
  async sample() {
    const packed = (folder: string, isCounted = (_path: string): boolean => true): number =>
      sum(packedFiles(folder).flatMap(({ path, size }) => (isCounted(path) ? [size] : [])));
    const installed = (name: string): number => sum(filesBelow(join(ownCheckout, "node_modules", name)).map((path) => statSync(path).size));
    const parts = {
      server: packed("server"),
      studio: packed("studio"),
      client: packed("stepfold", (path) => /^(?:dist|src)\/client\/|^dist\/chunks\/client\.js/.test(path)),
      hono: installed("hono"),
      "@hono/node-server": installed("@hono/node-server"),
    };
    const named = Object.entries(parts).map(([name, mb]) => [`part ${name}`, mb]);
    return { mb: Object.values(parts).reduce((all, mb) => all + mb, 0), ...Object.fromEntries(named) };
  },
};

/** How long `stepfold dev` in an empty folder takes to its address, and how long `stepfold --version` takes: the medians of five, in turns. */
const dev: Case = {
  once: true,
  async sample() {
    const times: { readonly dev: number; readonly version: number }[] = [];
    for (let round = 0; round < 5; round++) {
      times.push({ version: await msUntil(["--version"], "."), dev: await msUntil(["dev", "--json", "--port", "0"], '"type":"ready"') });
    }
    return { devMs: spread(times.map((time) => time.dev)).median, versionMs: spread(times.map((time) => time.version)).median };
  },
};

/** Runs the command line in an empty folder. Returns the time until it has printed a text; then it is ended. */
async function msUntil(args: readonly string[], text: string): Promise<number> {
  const cwd = mkdtempSync(join(tmpdir(), "stepfold-bench-dev-"));
  const from = performance.now();
  const child = spawn(process.execPath, [join(ownCheckout, "packages/cli/bin/stepfold.js"), ...args], { cwd });
  let output = "";
  let tookMs = Number.NaN;
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
    if (!Number.isNaN(tookMs) || !output.includes(text)) return;
    tookMs = performance.now() - from;
    child.kill("SIGINT");
  });
  await new Promise((resolve) => child.once("close", resolve));
  rmSync(cwd, { recursive: true, force: true, maxRetries: 5 });
  if (Number.isNaN(tookMs)) throw new TypeError(`stepfold ${args.join(" ")} printed ${output}`);
  return tookMs;
}

/** What is measured without a browser: sizes, and the start of `stepfold dev`. */
export const sizeCases: Readonly<Record<"pages" | "client" | "install" | "dev", Case>> = { pages, client, install, dev };
