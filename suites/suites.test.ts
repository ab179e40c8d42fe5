import { describe, expect, it } from "vitest";
import { aslMachines } from "./asl-machines.ts";
import { bpmnSituations } from "./bpmn.ts";
import { forms, item } from "./n8n-expressions.ts";
import { page, play, type Situation } from "./situation.ts";
import { unsayable } from "./unsayable.ts";
import { ctkScenarios } from "./workflow-ctk.ts";

const suites: readonly (readonly [name: string, situations: readonly Situation[]])[] = [
  ["Amazon States Language", aslMachines],
  ["Serverless Workflow", ctkScenarios],
  ["BPMN", bpmnSituations],
];

describe.each(suites)("%s", (_, situations) => {
  it.each(situations.map((situation) => [situation.name, situation] as const))("%s", async (_name, situation) => {
    const snapshot = await play(situation);
    expect([snapshot.status, snapshot.error?.message]).toEqual([
      situation.status ?? "completed",
      situation.error ? expect.anything() : undefined,
    ]);
    if ("output" in situation) expect(snapshot.output).toEqual(situation.output);
    if (situation.error) expect(snapshot.error).toMatchObject(situation.error);
    for (const [id, times] of Object.entries(situation.visits ?? {})) expect([id, snapshot.context[id]?.length]).toEqual([id, times]);
  });
});

describe("n8n's commonest expressions", () => {
  it.each(forms)("%s", async (form, gives) => {
    const nodes = [
      { id: "http", name: "HTTP Request", type: "set", data: item },
      { id: "tell", type: "set", data: { value: `{{ ${form} }}` } },
    ];
    const { output } = await play({ name: form, nodes, edges: ["http>tell"] });
    expect(output).toEqual(gives === undefined ? {} : { value: gives });
  });
});

it("is told on a page of the docs, with what cannot be expressed", async () => {
  const rows = [
    ...suites.map(([name, situations]) => [name, situations.length] as const),
    ["n8n: forms of expressions", forms.length] as const,
  ];
  const lists = Object.entries(unsayable).map(
    ([name, list]) =>
      `### ${name}\n\n| cannot be expressed | instead |\n| --- | --- |\n${list.map(([what, instead]) => `| ${what} | ${instead} |`).join("\n")}`,
  );
  const text = `# Situations of other engines

<!-- written by npm run suites -->

Situations that other engines test, expressed as workflows of Stepfold. The tests run them, and each ends as it does in the other engine.

| engine | situations that run |
| --- | --- |
${rows.map(([name, count]) => `| ${name} | ${count} |`).join("\n")}

They are in [suites](../suites), one file for each engine, in our own words.

## What cannot be expressed

${lists.join("\n\n")}
`;
  await expect(text).toMatchFileSnapshot(page);
});
