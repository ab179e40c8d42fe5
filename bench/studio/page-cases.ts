import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import type { Runtime } from "stepfold/runtime";
import { type Case, type Sample, sleep, spread } from "../measure.ts";
import { allIn, cardOf, elementsOf, pagesFolder, withStudio } from "./shown-studio.ts";

const kilobyte = 1024;
const visits = 2_000;
const fewVisits = 250;
const items = 5_000;
const nodes = 500;
const rows = 1_000;

const pageCase = (measure: Parameters<typeof withStudio<Sample>>[0]): Case => ({
  once: true,
  longestMs: 180_000,
  sample: () => withStudio(measure),
});

/** The kilobytes of code that a page loads, as gzip. The code of workers counts too. */
const code: Case = pageCase(async ({ runtime, open }) => {
  await (await runtime.start("idle", { workflowId: "a", input: {} })).waitFor("paused");
  const loaded = async (path: string, isThere: (page: Page) => Promise<unknown>): Promise<number> => {
    const page = await open("/favicon.ico");
    const files = new Set<string>();
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.endsWith(".js")) files.add(pathname);
    });
    await page.goto(new URL(path, page.url()).href);
    await isThere(page);
    // what it loads besides, such as the code of workers, comes at once
    for (let before = -1; before < files.size; await sleep(500)) before = files.size;
    return [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(pagesFolder, file)), { level: 9 }).byteLength, 0) / kilobyte;
  };
  return {
    listKb: await loaded("/executions", (page) => page.getByRole("link", { name: "a", exact: true }).waitFor()),
    executionKb: await loaded("/executions/a", async (page) => {
      await page.locator(cardOf("wait")).waitFor();
      await page.getByRole("radio").first().waitFor();
    }),
  };
});

const list: Case = pageCase(async ({ runtime, open }) => {
  await Promise.all(Array.from({ length: rows }, (_, index) => runtime.start("idle", { workflowId: `order-${index}`, input: {} })));
  const page = await open("/executions");
  const shown = page.getByText(`${rows.toLocaleString("en")} executions, all shown.`);
  const table = page.getByRole("table", { name: "Executions" });
  await table.waitFor();
  let most = 0;
  while (!(await shown.isVisible())) {
    await table.hover();
    await page.mouse.wheel(0, 2_000);
    most = Math.max(most, await elementsOf(page));
  }
  return { elements: Math.max(most, await elementsOf(page)) };
});

const mapOfMany: Case = pageCase(async ({ runtime, open }) => {
  const parcels = Array.from({ length: items }, (_, n) => ({ n, isLast: n === items - 1 }));
  const run = await runtime.start("map", { workflowId: "map", input: { parcels } });
  await run.waitFor("paused");
  const { version } = await run.snapshot();
  const from = performance.now();
  const page = await open("/executions/map");
  await page
    .locator(cardOf("pack"))
    .getByText(`${items.toLocaleString("en")} items`)
    .waitFor();
  await allIn(page, version + 1);
  // and it answers
  await page.locator(cardOf("pack")).click();
  await page.getByRole("complementary", { name: "pack" }).waitFor();
  return { ms: performance.now() - from, elements: await elementsOf(page) };
});

const wideGraph: Case = pageCase(async ({ runtime, open }) => {
  const run = await runtime.start("wide", { workflowId: "wide", input: {} });
  await run.result();
  const from = performance.now();
  const page = await open("/executions/wide");
  await page.locator("[data-node]").first().waitFor();
  await page.locator('[data-node][data-status="completed"]').first().waitFor();
  const ms = performance.now() - from;
  await page.getByRole("button", { name: "Fit" }).click();
  await page.waitForFunction(`document.querySelectorAll("[data-node]").length === ${nodes}`);
  return { ms, elements: await elementsOf(page) };
});

const manyVisits: Case = pageCase(async ({ runtime, open }) => {
  const [few, many] = [await looped(runtime, fewVisits), await looped(runtime, visits)];
  const fewPage = await open(`/executions/${few.id}`);
  await allIn(fewPage, few.events);
  const fewSteps = await sliderSteps(fewPage, few.events);
  const from = performance.now();
  const page = await open(`/executions/${many.id}`);
  await allIn(page, many.events);
  const allInMs = performance.now() - from;
  const elements = await elementsOf(page);
  let requests = 0;
  page.on("request", () => requests++);
  const steps = await sliderSteps(page, many.events);
  await page.getByRole("tab", { name: "Timeline", exact: true }).click();
  return {
    ...{ allInMs, requests, stepMs: spread(steps).median, fewStepMs: spread(fewSteps).median },
    elements: Math.max(elements, await elementsOf(page)),
  };
});

/** Runs the loop to its end. */
async function looped(runtime: Runtime, count: number): Promise<{ readonly id: string; readonly events: number }> {
  const run = await runtime.start("loop", { workflowId: `loop-${count}`, input: { visits: count } });
  await run.result();
  return { id: run.workflowId, events: (await run.snapshot()).version + 1 };
}

/**
 * Moves the slider to versions here and there in the history. Returns how many milliseconds each move took until the graph showed that version:
 * how often its first node had been visited then.
 */
async function sliderSteps(page: Page, events: number): Promise<number[]> {
  await page.locator(cardOf("count")).getByText("×").waitFor();
  const took: number[] = [];
  for (const part of [0.5, 0.9, 0.1, 0.7, 0.3, 0.95, 0.05, 0.6, 0.4, 0.8, 0.2]) {
    // after an odd version the first node has just been visited
    const version = 2 * Math.floor((part * events) / 2) + 1;
    const wanted = `×${((version + 1) / 2).toLocaleString("en")}`;
    took.push(
      (await page.evaluate(`(${moveSlider})(${version}, ${JSON.stringify(wanted)}, ${JSON.stringify(cardOf("count"))})`)) as number,
    );
  }
  return took;
}

/** Runs in the page. */
const moveSlider = `async (version, wanted, card) => {
  const slider = document.querySelector('input[type="range"][aria-label="Version"]');
  const from = performance.now();
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(slider, String(version));
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  const isShown = () => document.querySelector(card)?.innerText.split(/\\s/).includes(wanted);
  while (!isShown()) {
    if (performance.now() - from > 20_000) throw new Error("version " + version + " is not shown");
    await new Promise(requestAnimationFrame);
  }
  return performance.now() - from;
}`;

/** What is measured in pages. */
export const pageCases: Readonly<Record<"code" | "list" | "map" | "graph" | "loop", Case>> = {
  code,
  list,
  map: mapOfMany,
  graph: wideGraph,
  loop: manyVisits,
};
