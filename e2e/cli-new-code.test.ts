import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli, newFolder, startCli } from "./cli.ts";

// What the command line does where its code is not the code that an execution needs, or is not to be used.

const flow = {
  id: "w",
  nodes: [
    { id: "ask", type: "approval", data: { responders: ["ada", "bob"] } },
    { id: "pay", type: "pay", data: { amount: 5 } },
  ],
  edges: [{ source: "ask", target: "pay", sourceHandle: "approved" }],
};
const config = (...required: readonly string[]): string =>
  `export default { nodeDefinitions: { pay: { input: { type: "object", required: ${JSON.stringify(required)} }, executor: (data) => ({ data }) } } };`;
const yes = ["--payload", '{"approved":true}'];

/** A folder with an execution `a` that waits for an answer. */
async function waiting(): Promise<{ readonly cwd: string; write(file: string, text: string): void }> {
  const cwd = newFolder();
  const write = (file: string, text: string): void => writeFileSync(join(cwd, file), text);
  write("w.json", JSON.stringify(flow));
  write("stepfold.config.mjs", config("amount"));
  expect(await cli(["run", "w.json", "--id", "a"], { cwd })).toMatchObject({ code: 0 });
  return { cwd, write };
}

describe("a command", () => {
  it("counts in a process whose code does not take the definition, and leaves the rest to workers", async () => {
    const { cwd, write } = await waiting();
    write("stepfold.config.mjs", config("amount", "currency"));
    const { code, stdout, stderr } = await cli(["resume", "a", "--by", "ada", ...yes], { cwd });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("is answered") });
    expect(stderr).toContain('/nodes/1/data: lacks "currency"');
    write("stepfold.config.mjs", config("amount"));
    expect(await cli(["retry", "a"], { cwd })).toMatchObject({ stdout: expect.stringContaining("a completed") });
  });

  it("only tells the execution with --no-drive", async () => {
    const { cwd } = await waiting();
    const { code, stderr } = await cli(["resume", "a", "--by", "ada", ...yes, "--no-drive"], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("This command runs no steps; a worker goes on") });
    expect((await cli(["show", "a"], { cwd })).stdout).toContain("ask is ready to go on");
  });

  it("tells what runs in another process as running, and who runs it", async () => {
    const cwd = newFolder();
    const long = `export default { nodeDefinitions: { long: { executor: () => new Promise((done) => setTimeout(done, 60_000)) } } };`;
    writeFileSync(join(cwd, "stepfold.config.mjs"), long);
    writeFileSync(join(cwd, "w.json"), JSON.stringify({ id: "w", nodes: [{ id: "render", type: "long" }], edges: [] }));
    const running = startCli(["run", "w.json", "--id", "a"], { cwd });
    await running.saw("a  w");
    await expect.poll(async () => (await cli(["show", "a"], { cwd })).stdout, { timeout: 20_000 }).toContain("render is running.");
    const { stdout } = await cli(["show", "a"], { cwd });
    expect(stdout).toMatch(/\nIt is held by \S+\.\n/);
    expect(stdout).toMatch(/● render +running, here for /);
    running.child.kill("SIGKILL");
  });

  it("names --definition where what it names is at fault, and a config only where a type is missing", async () => {
    const cwd = newFolder();
    const write = (id: string, type: string, more: object = {}): void =>
      writeFileSync(join(cwd, `${id}.json`), JSON.stringify({ id, nodes: [{ id: `${id}-1`, type }], edges: [], ...more }));
    const told = async (...args: string[]): Promise<string> => {
      const { code, stderr } = await cli(args, { cwd });
      expect(code).toBe(2);
      return stderr;
    };
    write("w", "fail", { nodes: [{ id: "w-1", type: "fail", data: { message: "no" } }] });
    write("other", "noop");
    write("bad", "noop", { edges: [{ source: "bad-1", target: "nowhere" }] });
    write("untyped", "nosuch");
    await cli(["run", "w.json", "--id", "x"], { cwd });
    const refused = /^error DEFINITION_(INVALID|CHANGED): .*\n(.*\n)*Nothing was changed\. .*--definition /;
    for (const more of [["bad.json"], ["untyped.json"], ["other.json"], ["bad.json", "--dry-run"], ["other.json", "--dry-run"]])
      expect(await told("restart", "x", "--definition", ...more)).toMatch(refused);
    expect(await told("restart", "x", "--definition", "nosuch")).toContain(
      "there is no such file, and the config has no workflows\n--definition takes the id of a workflow of the config, @FILE, or JSON\n",
    );
    expect(await told("run", "bad.json")).not.toContain("stepfold.config.ts");
    expect(await told("run", "untyped.json")).toContain("stepfold.config.ts");
  });

  it("does not take the answer of somebody else for its own", async () => {
    const { cwd } = await waiting();
    expect((await cli(["resume", "a", "--by", "ada", ...yes], { cwd })).code).toBe(0);
    expect(await cli(["resume", "a", "--by", "ada", ...yes], { cwd })).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("given before"),
    });
    for (const by of [[], ["--by", "bob"]]) {
      const { code, stderr } = await cli(["resume", "a", ...by, ...yes], { cwd });
      expect(code).not.toBe(0);
      expect(stderr).not.toContain("given before");
    }
  });

  it("says what to do with a config that Node.js reads as CommonJS", async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "package.json"), '{ "type": "commonjs" }');
    writeFileSync(join(cwd, "stepfold.config.ts"), 'import { x } from "y";\nexport default {};');
    writeFileSync(join(cwd, "w.json"), JSON.stringify(flow));
    const { code, stderr } = await cli(["run", "w.json"], { cwd });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("Rename the config to stepfold.config.mts") });
  });
});
