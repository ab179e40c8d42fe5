import type { Page } from "playwright-core";
import { defineNode, type JsonSchema, type StepContext, type WorkflowDefinition } from "stepfold";
import { describe, expect, it, onTestFinished } from "vitest";
import { newFolder } from "../cli.ts";
import { expectNoComplaints, maxMs, startBrowser } from "./browser.ts";
import { expectOnlyText, expectSeen } from "./page-content.ts";
import { type Site, serveSite } from "./serve-site.ts";

/** Suspends with whatever its input says. */
const suspend = defineNode({
  executor(data, step: StepContext) {
    if (step.resumed) return { data: null };
    const { payload, schema } = data as { readonly payload: unknown; readonly schema?: JsonSchema };
    return step.suspend(payload, { schema });
  },
});

const asks: WorkflowDefinition = {
  id: "asks",
  nodes: [{ id: "suspend", type: "suspend", data: { payload: "{{ input.payload }}", schema: "{{ input.schema }}" } }],
  edges: [],
};

/** A graph as large as a definition may be: a row of lanes, each a line of nodes, behind one that waits. */
function largeGraph(lanes: number, length: number): WorkflowDefinition {
  const cells = Array.from({ length: lanes * length }, (_, index) => index);
  return {
    id: "large",
    nodes: [
      { id: "wait", type: "approval" },
      ...cells.map((cell) => ({ id: `n${cell}`, name: `Step ${cell} of a large graph`, type: "noop" })),
    ],
    edges: cells.map((cell) => ({
      source: cell % length === 0 ? "wait" : `n${cell - 1}`,
      target: `n${cell}`,
      ...(cell % length === 0 && { sourceHandle: "approved" }),
    })),
  };
}

/** An object of which each level has one member that is the next level. */
function deep(levels: number, end: unknown): unknown {
  let value = end;
  for (let level = 0; level < levels; level++) value = { [`level${level}`]: value };
  return value;
}

/** A schema of objects in objects, as deep as a value may be. */
function deepSchema(levels: number): JsonSchema {
  let schema: JsonSchema = { type: "string" };
  for (let level = 0; level < levels; level++)
    schema = { type: "object", title: `Level ${level}`, properties: { inner: schema }, required: ["inner"] };
  return schema;
}

const manyFields = (count: number): JsonSchema => ({
  type: "object",
  properties: Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`field${index}`, { type: "string", title: `Field ${index}` }]),
  ),
});

/** What a wait shows, and the schema of its answer. */
const sizes: Readonly<Record<string, { readonly payload: unknown; readonly schema?: JsonSchema }>> = {
  "a text of a million characters": { payload: { text: "W".repeat(1_000_000) } },
  "a list of 50,000 items": { payload: Array.from({ length: 50_000 }, (_, index) => index) },
  "an object of 50,000 members": { payload: Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`member ${index}`, index])) },
  "a value of 60 levels": { payload: deep(60, "end") },
  "a schema of 12,000 fields": { payload: "Fill it in", schema: manyFields(12_000) },
  "a schema of 25 levels": { payload: "Fill it in", schema: deepSchema(25) },
  "a list of 50,000 choices": {
    payload: "Choose",
    schema: { type: "object", properties: { choice: { enum: Array.from({ length: 50_000 }, (_, index) => `choice ${index}`) } } },
  },
  "texts of a million characters in a schema": {
    payload: "Fill it in",
    schema: {
      type: "object",
      title: "T".repeat(500_000),
      properties: { field: { type: "string", title: "L".repeat(250_000), description: "D".repeat(250_000) } },
    },
  },
};

async function start(workflows: readonly WorkflowDefinition[], inputs: Readonly<Record<string, unknown>>): Promise<Site> {
  const site = await serveSite({ folder: newFolder(), workflows, nodeDefinitions: { suspend } });
  onTestFinished(site.close);
  for (const [workflowId, input] of Object.entries(inputs)) {
    const run = await site.runtime.start(workflows[0]!.id, { workflowId, input });
    await run.waitFor("paused");
  }
  return site;
}

const elementsOf = (page: Page): Promise<number> => page.locator("*").count();

describe("what is enormous or deep", () => {
  it.each(Object.entries(sizes))("is shown in part, and the page stays usable: %s", async (_, input) => {
    const site = await start([asks], { big: input });
    const browser = await startBrowser();
    const page = await browser.open(site.link("/executions/big"));
    await expectSeen(page.getByRole("complementary"));
    for (const tab of ["Input", "Output", "Wait"]) {
      await page.getByRole("complementary").getByRole("tab", { name: tab }).click();
      await expectOnlyText(page);
      expect(await elementsOf(page), tab).toBeLessThan(1_500);
    }
    for (const tab of ["Events", "Context", "JSON", "Timeline", "Graph"]) {
      await page.getByRole("tablist", { name: "Views of the execution" }).getByRole("tab", { name: tab }).click();
      await expectOnlyText(page);
      expect(await elementsOf(page), tab).toBeLessThan(1_500);
    }
    const answer = page.getByRole("complementary").getByRole("button", { name: "Answer as ada" });
    const asJson = page.getByRole("complementary").getByRole("button", { name: "As JSON" });
    if (await asJson.isVisible()) await asJson.click();
    await page.getByRole("textbox", { name: "Value" }).fill("{}");
    await answer.click();
    // the server decides: it takes the answer, or says what is wrong with it
    await expectSeen(page.getByText("Completed.").or(page.getByText("RESUME_INVALID")).first());
    expectNoComplaints(browser);
  });

  it("is a graph of 4,900 nodes: boxes, cards where one is close, and an outline", { timeout: 300_000 }, async () => {
    const site = await start([largeGraph(49, 100)], { large: {} });
    const browser = await startBrowser();
    const page = await browser.open(site.link("/executions/large"));
    const graph = page.getByRole("application");
    await graph.getByRole("button", { name: /^wait/ }).waitFor({ timeout: 3 * maxMs });
    expect(await elementsOf(page)).toBeLessThan(12_000);
    await page.getByRole("button", { name: "Fit" }).click();
    await expect.poll(() => graph.getByRole("button").count(), { timeout: 3 * maxMs }).toBeGreaterThan(100);
    expect(await elementsOf(page)).toBeLessThan(30_000);
    await page.getByRole("button", { name: "Outline" }).click();
    await expectSeen(page.getByRole("table").getByRole("button", { name: "wait" }));
    expect(await elementsOf(page)).toBeLessThan(12_000);
    await expectOnlyText(page);
    expectNoComplaints(browser);
  });
});
