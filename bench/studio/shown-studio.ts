import { join } from "node:path";
import { createServer } from "@stepfold/server";
import { listen } from "@stepfold/server/node";
import { studio } from "@stepfold/studio";
import type { Page } from "playwright-core";
import { createRuntime, type Runtime } from "stepfold/runtime";
import { memoryStore } from "stepfold/stores/memory";
import { launchBrowser } from "../../e2e/studio/launch-browser.ts";
import { findChromium } from "../../scripts/servers/chromium.ts";
import { ownCheckout } from "../library.ts";
import { idle, largeNodes, loop, map, wide } from "./large-workflows.ts";

/** The files of the built pages. */
export const pagesFolder: string = join(ownCheckout, "packages/studio/dist/app");

/** A runtime whose executions are shown in a browser. */
export interface ShownStudio {
  readonly runtime: Runtime;
  /** Opens a path of Studio in a new page, and resolves once the document is there. */
  open(path: string): Promise<Page>;
}

/** Lets a runtime be seen in a browser while it is measured. */
export async function withStudio<T>(measure: (shown: ShownStudio) => Promise<T>): Promise<T> {
  if (findChromium() === undefined)
    throw new TypeError("there is no Chromium: apt-get install chromium, or set CHROMIUM to the path of one");
  const store = memoryStore();
  const runtime = createRuntime({ store, workflows: [loop, map, wide, idle], nodeDefinitions: largeNodes, maxExecutions: 1_000 });
  const server = createServer({ runtime, store, auth: "off", studio: studio(), maxRequestsPerMinute: 100_000 });
  const { url, close } = await listen(server, { port: 0 });
  const browser = await launchBrowser();
  browser.context.setDefaultTimeout(60_000);
  try {
    return await measure({
      runtime,
      async open(path) {
        const page = await browser.context.newPage();
        await page.goto(url + path, { waitUntil: "commit" });
        return page;
      },
    });
  } finally {
    await browser.close();
    await close();
    await runtime.close({ timeoutMs: 0 });
    await store.close();
  }
}

/** The number of elements of a page. */
export function elementsOf(page: Page): Promise<number> {
  return page.evaluate("document.querySelectorAll('*').length");
}

/** The tab of the events of an execution, once it says that all of them have come. */
export async function allIn(page: Page, events: number): Promise<void> {
  await page.getByRole("tab", { name: `Events ${events.toLocaleString("en")}`, exact: true }).waitFor();
}

/** The card of a node, as text to select it. */
export function cardOf(nodeId: string): string {
  return `[data-node="${nodeId}"]`;
}
