import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createClient } from "stepfold/client";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { newFolder, root } from "./cli.ts";

/** The longest time that anything here may take; a quiet machine needs a thirtieth of it. */
const maxMs = 300_000;

/** What `npm pack` says of a package. */
interface Packed {
  readonly name: string;
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

/** What the packages of this repository need from a registry, as it is installed here: no registry is asked. */
const needed = ["hono", "@hono/node-server", "commander"];
const own = ["stepfold", "server", "studio", "cli"];

/** npm without a network: a registry that nobody can reach, and a cache that has nothing. */
function npm(folder: string, args: readonly string[], cwd: string): string {
  return execFileSync("npm", args, { cwd, encoding: "utf8", env: environment(folder), stdio: ["ignore", "pipe", "pipe"] });
}

function environment(folder: string): NodeJS.ProcessEnv {
  const { npm_config_cache: _, ...inherited } = process.env;
  return {
    ...inherited,
    // this Node.js, and not the command line of this repository
    PATH: [dirname(process.execPath), ...process.env.PATH!.split(delimiter).filter((path) => !path.includes("node_modules/.bin"))].join(
      delimiter,
    ),
    npm_config_cache: join(folder, "cache"),
    npm_config_registry: "http://127.0.0.1:9/",
    npm_config_offline: "true",
  };
}

/** Packs everything that `npx stepfold` installs. */
function pack(folder: string): Packed[] {
  const paths = [...own.map((name) => `packages/${name}`), ...needed.map((name) => `node_modules/${name}`)].map((path) => join(root, path));
  return paths.map((path) => {
    const told = npm(folder, ["pack", "--json", "--ignore-scripts", "--pack-destination", folder, path], folder);
    return (JSON.parse(told) as readonly Packed[])[0]!;
  });
}

/** The packages in a folder of modules, with their package.json. */
function installedIn(modules: string): Readonly<Record<string, { readonly scripts?: Readonly<Record<string, string>> }>> {
  const folders = readdirSync(modules).flatMap((name) => {
    if (name.startsWith(".")) return [];
    return name.startsWith("@") ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name];
  });
  return Object.fromEntries(folders.map((name) => [name, JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8"))]));
}

/** The arguments of npm for `npx stepfold`. */
function execArguments(folder: string, packed: readonly Packed[]): string[] {
  return ["exec", "--yes", ...packed.map(({ filename }) => `--package=${join(folder, filename)}`), "--", "stepfold"];
}

/** Runs `npx stepfold dev` in a folder until the end of the test, and waits until it serves. */
async function startPacked(
  folder: string,
  cwd: string,
  packed: readonly Packed[],
): Promise<{ readonly url: string; readonly token: string }> {
  const args = [...execArguments(folder, packed), "dev", "--json", "--port", "0"];
  // a group of its own, so that all of npm, its shell and what it runs are ended
  const child = spawn("npm", args, { cwd, env: environment(folder), detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  onTestFinished(() => {
    if (child.exitCode === null) process.kill(-child.pid!, "SIGKILL");
  });
  const ready = /"type":"ready".*?"url":"([^"#]+)\/#t=([^"]+)"/;
  await expect.poll(() => ready.test(output) || child.exitCode !== null, { timeout: maxMs }).toBe(true);
  const [, url, token] = ready.exec(output) ?? [];
  expect(url, output).toBeDefined();
  return { url: url!, token: token! };
}

describe("the packed packages, without a network", () => {
  let folder = "";
  let packed: readonly Packed[] = [];
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "stepfold-packed-"));
    packed = pack(folder);
  }, maxMs);
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

  it.each([
    ["an empty folder", false, "stepfold.config.ts"],
    ["a folder after npm init", true, "stepfold.config.mts"],
  ])("`npx stepfold dev` serves the sample in %s", { timeout: 2 * maxMs }, async (_, isPackage, config) => {
    const cwd = newFolder();
    if (isPackage) npm(folder, ["init", "-y"], cwd);
    const { url, token } = await startPacked(folder, cwd, packed);
    expect((await fetch(`${url}/v1/executions`)).status).toBe(401);
    const answer = await fetch(`${url}/v1/executions`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
    expect(await (await fetch(`${url}/`)).text()).toContain('<script type="module"');
    // its config and its code load: the sample goes on until it asks somebody
    const client = createClient({ url, token });
    await expect
      .poll(async () => (await client.executions.get("order-1").catch(() => null))?.waits.map(({ nodeId }) => nodeId), { timeout: maxMs })
      .toEqual(["approve"]);
    expect(existsSync(join(cwd, config))).toBe(true);
    expect(existsSync(join(cwd, "node_modules"))).toBe(false);
  });

  it("installs no package that runs a script, and nothing but what is named", { timeout: maxMs }, () => {
    expect(npm(folder, [...execArguments(folder, packed), "--version"], newFolder()).trim()).toMatch(/^\d+\.\d+\.\d+$/);
    const [installation] = readdirSync(join(folder, "cache/_npx"));
    const modules = join(folder, "cache/_npx", installation!, "node_modules");
    const installed = installedIn(modules);
    expect(Object.keys(installed).sort()).toEqual(packed.map(({ name }) => name).sort());
    const scripts = Object.entries(installed).flatMap(([name, { scripts = {} }]) =>
      ["preinstall", "install", "postinstall"].filter((script) => script in scripts).map((script) => `${name}: ${script}`),
    );
    expect(scripts).toEqual([]);
    expect(Object.keys(installed).filter((name) => existsSync(join(modules, name, "binding.gyp")))).toEqual([]);
  });

  it("adds at most 8 MB to an install for the server, the client and Studio", () => {
    const sizeOf = (name: string): number => packed.find((one) => one.name === name)!.unpackedSize;
    const client = packed.find(({ name }) => name === "stepfold")!.files.filter(({ path }) => /(^|\/)client[./]/.test(path));
    expect(client.length).toBeGreaterThan(10);
    const added = ["@stepfold/server", "@stepfold/studio", "hono", "@hono/node-server"].map(sizeOf);
    const bytes = [...added, ...client.map(({ size }) => size)].reduce((sum, size) => sum + size, 0);
    expect(added.every((size) => size > 10_000)).toBe(true);
    expect(bytes).toBeLessThan(8_000_000);
  });
});
