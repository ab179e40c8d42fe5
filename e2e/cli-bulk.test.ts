import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cli, jsonLines, newFolder, type Place } from "./cli.ts";

/** The step fails until the file `mended` exists. */
const config = `
import { existsSync } from "node:fs";
export default { nodeDefinitions: {
  ship: { executor: () => { if (!existsSync("mended")) throw new Error("no ship"); return { data: "shipped" }; } },
} };
`;

/** Makes a folder with executions `o-1`, `o-2`, ... of a workflow of one node. */
async function started(count: number, node: object): Promise<Place & { readonly mend: () => void }> {
  const cwd = newFolder();
  writeFileSync(join(cwd, "stepfold.config.mjs"), config);
  writeFileSync(join(cwd, "order.json"), JSON.stringify({ id: "order", nodes: [{ id: "step", ...node }], edges: [] }));
  for (let nth = 1; nth <= count; nth++) await cli(["run", "order.json", "--id", `o-${nth}`, "--config", "stepfold.config.mjs"], { cwd });
  return { cwd, mend: () => writeFileSync(join(cwd, "mended"), "") };
}

async function statuses(place: Place): Promise<Record<string, string>> {
  const [page] = jsonLines((await cli(["ls", "--order", "oldest", "--json"], place)).stdout) as {
    items: { workflowId: string; status: string }[];
  }[];
  return Object.fromEntries(page!.items.map(({ workflowId, status }) => [workflowId, status]));
}

it("bulk restart says what it would do, and does it once with --apply", async () => {
  const place = await started(2, { type: "ship" });
  const dry = await cli(["bulk", "restart", "--workflow", "order", "--config", "stepfold.config.mjs"], place);
  expect(dry).toMatchObject({ code: 0, stderr: "" });
  expect(dry.stdout).toBe(
    "· o-1  failed  goes on at step\n· o-2  failed  goes on at step\n2 would be done. Nothing was changed: add --apply\n",
  );
  expect(Object.keys(await statuses(place))).toEqual(["o-1", "o-2"]);
  place.mend();
  const done = await cli(["bulk", "restart", "--all", "--apply", "--limit", "1", "--config", "stepfold.config.mjs"], place);
  expect(done).toMatchObject({ code: 0, stdout: "✔ o-1  failed  goes on at step\n1 done\n" });
  const rest = await cli(["bulk", "restart", "--all", "--apply", "--json", "--config", "stepfold.config.mjs"], place);
  expect(jsonLines(rest.stdout)).toMatchObject([
    { type: "outcome", workflowId: "o-2", outcome: "done", plan: { workflowId: "o-2" } },
    { type: "bulk", action: "restart", done: 1, planned: 0, unchanged: 0, refused: 0 },
  ]);
  expect(await statuses(place)).toMatchObject({ "o-1": "active", "o-2": "active" });
});

it("bulk incidents decides what waits for a decision", async () => {
  const place = await started(2, { type: "ship", incident: true });
  const skip = ["bulk", "incidents", "skip", "--output", '"by hand"', "--by", "ada", "--all", "--config", "stepfold.config.mjs"];
  expect((await cli(skip, place)).stdout).toContain("· o-1  paused  step\n");
  expect(await cli([...skip, "--apply"], place)).toMatchObject({ code: 0, stdout: "✔ o-1  paused  step\n✔ o-2  paused  step\n2 done\n" });
  await cli(["retry", "o-1", "--config", "stepfold.config.mjs"], place);
  expect((await cli(["show", "o-1"], place)).stdout).toContain("by hand");
  expect((await cli(["bulk", "incidents", "leave", "--all"], place)).stderr).toContain("must be retry, skip or fail");
});

it("bulk signal, fork and cancel reach all that the filter finds", async () => {
  const place = await started(2, { type: "signal", data: { name: "go" } });
  const one = ["--id-prefix", "o-1", "--apply"];
  expect((await cli(["bulk", "signal", "news", "--payload", "5", "--ttl", "1h", ...one], place)).stdout).toBe("✔ o-1  paused\n1 done\n");
  expect((await cli(["bulk", "fork", "new", "--node", "step", ...one], place)).stdout).toContain("✔ o-1  paused  o-1~new at step\n");
  const cancelled = await cli(["bulk", "cancel", "--reason", "over", "--status", "paused", "active", "--apply"], place);
  expect(cancelled).toMatchObject({ code: 0, stdout: expect.stringContaining("✔ o-2") });
  expect(new Set(Object.values(await statuses(place)))).toEqual(new Set(["cancelled"]));
});

it("bulk tells of those that refuse, and ends with an error if it was to do it", async () => {
  const place = await started(1, { type: "ship" });
  const wrong = ["bulk", "fork", "x", "--node", "nowhere", "--all"];
  expect(await cli(wrong, place)).toMatchObject({ code: 0, stdout: expect.stringContaining("✖ o-1  failed  NODE_UNKNOWN: ") });
  expect(await cli([...wrong, "--apply"], place)).toMatchObject({ code: 1, stdout: expect.stringContaining("0 done, 1 refused") });
});

it.each([
  [["bulk", "cancel"], "Select executions"],
  [["bulk", "cancel", "--all", "--workflow", "order"], "Select executions"],
  [["bulk", "cancel", "--status", "failed"], 'must not be "failed"'],
  [["bulk", "cancel", "--all", "--limit", "0"], "--limit must be"],
  [["bulk", "incidents", "retry", "--output", "5", "--all"], "--output is the output of a step that is skipped"],
  [["bulk", "restart", "--all", "--compensated", "maybe"], "must be again or keep"],
  [["bulk", "drop"], "drop"],
])("%j is refused, and changes nothing", async (words, message) => {
  const place = await started(1, { type: "approval" });
  expect(await cli(words, place)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  expect(await statuses(place)).toEqual({ "o-1": "paused" });
});
