import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli, newFolder } from "./cli.ts";

// What the command line does with workflows that are written as code.

const config = (first = "charge"): string => `
import { defineDurable } from "stepfold";

const item = defineDurable({ id: "item", run: ({ step }) => step.waitFor("ok") });
const order = defineDurable({
  id: "order",
  workflows: [item],
  async run({ input, step }) {
    await step.run("${first}", () => "paid");
    const mail = await step.run("mail", () => { throw new Error("no address"); }).catch(() => "unsent");
    await Promise.all([step.node("approve", "approval", { title: "Ship it?", responders: ["ada"] }), step.signal("packed")]);
    return { mail, items: await step.map("many", input, "item") };
  },
});
export default { workflows: [order] };
`;

/** A folder with an execution `one` that waits for an answer and a signal, and what the command that started it has printed. */
async function waiting() {
  const cwd = newFolder();
  const write = (text: string): void => writeFileSync(join(cwd, "stepfold.config.mjs"), text);
  write(config());
  const started = await cli(["run", "order", "--input", "[1]", "--id", "one"], { cwd });
  expect(started).toMatchObject({ code: 0 });
  return { cwd, write, stdout: started.stdout };
}

describe("a workflow that is written as code", () => {
  it("is checked by its id, with the node types that it brings", async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "stepfold.config.mjs"), config());
    expect((await cli(["validate", "order"], { cwd })).stdout).toBe("✔ order can run: order, written as code\n");
    const twice = `${config()}export const other = 1;`.replace(
      "[order] }",
      "[order], nodeDefinitions: { item: { executor: () => ({ data: 1 }) } } }",
    );
    writeFileSync(join(cwd, "stepfold.config.mjs"), twice);
    const { code, stderr } = await cli(["validate", "order"], { cwd });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('another node definition of the type "item"') });
  });

  it("is run, and told by its steps", async () => {
    const { cwd, stdout } = await waiting();
    expect(stdout).toMatch(/✖ mail +attempt 1 +\d+ ms +no address +its code gets the error\n/);
    expect(stdout).toMatch(/⏸ order +rests until one of its steps goes on\n/);
    expect(stdout).toContain("⏸ one is paused: 2 places are open: 1 waits for an answer, 1 waits for a signal.");
    const shown = (await cli(["show", "one"], { cwd })).stdout;
    expect(shown).toMatch(/⏸ approve +suspended for .* waits for an answer from ada\n/);
    expect(shown).not.toMatch(/⏸ order/);
    expect((await cli(["ls"], { cwd })).stdout).toMatch(/^one +paused +order +(?:approve|packed) +1 answer, 1 signal /m);
  });

  it("goes on by the names of its steps, to its end", async () => {
    const { cwd } = await waiting();
    expect(await cli(["resume", "one", "--step", "approve", "--payload", '{"approved":true}', "--by", "ada"], { cwd })).toMatchObject({
      code: 0,
    });
    expect((await cli(["signal", "one", "packed"], { cwd })).stdout).toContain("⏸ one is paused: many[0]/ok waits for an answer.");
    const { stdout } = await cli(["resume", "one", "--step", "many[0]/ok", "--payload", '"fine"'], { cwd });
    expect(stdout).toContain("✔ one completed");
    expect(JSON.parse(stdout.slice(stdout.lastIndexOf("\n{")))).toEqual({ mail: "unsent", items: ["fine"] });
  });

  it("is parked by other code, and goes on with its own", async () => {
    const { cwd, write } = await waiting();
    write(config("pay"));
    const { stderr } = await cli(["signal", "one", "packed"], { cwd });
    expect(stderr).toMatch(/EXECUTION_PARKED: .* step 1 was "charge" \(completed, version 1\), and the code now asks for "pay"/);
    expect((await cli(["show", "one"], { cwd })).stdout).toMatch(/\(CODE_CHANGED\); it is tried again at /);
    expect((await cli(["dlq", "ls"], { cwd })).stdout).toContain("CODE_CHANGED: ");
    write(config());
    expect((await cli(["retry", "one"], { cwd })).stdout).toContain("⏸ one is paused: approve waits for an answer from ada.");
  });
});
