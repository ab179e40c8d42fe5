import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { executionPath } from "../../packages/studio/src/app/route.ts";
import { effort } from "../../scripts/test/effort.ts";
import { expectNoComplaints, startBrowser, type TestBrowser } from "./browser.ts";
import { hostileId, serveHostile } from "./hostile/hostile-site.ts";
import { type HostileName, hostileNames, hostileTexts } from "./hostile/hostile-texts.ts";
import { type HostileKind, hostileKinds, keyOf } from "./hostile/hostile-workflows.ts";
import { expectOnlyText, expectSeen, foreignMarkup, textOf, turningTexts } from "./page-content.ts";
import type { Site } from "./serve-site.ts";

/** As much of a text as is shown everywhere. */
const head = (name: HostileName): string => hostileTexts[name].slice(0, 60).trim();

/** By how much the inspector, whatever it shows, is wider than there is room for. */
const widthBeyond = `Math.max(0, ...[...document.querySelectorAll("aside [role=tabpanel], aside [role=tabpanel] > *")].map((one) => one.scrollWidth - one.clientWidth))`;

/** Opens the list. */
async function openSite(browser: TestBrowser, site: Site): Promise<Page> {
  const page = await browser.open(site.link());
  await page
    .getByRole("table", { name: "Executions" })
    .or(page.getByRole("list", { name: "Executions" }))
    .waitFor();
  return page;
}

/** Selects every tab of a row of tabs in turn. Returns the texts that were shown. */
async function throughTabs(page: Page, tabs: Locator): Promise<string> {
  const texts: string[] = [];
  for (const tab of await tabs.getByRole("tab").all()) {
    await tab.click();
    await expectOnlyText(page);
    texts.push(await textOf(page));
  }
  return texts.join("\n");
}

/** Kinds of which every tab is looked at; the others add one text each to what these have. */
const wholeKinds: readonly HostileKind[] = ["open", "fails", "done"];
/** The texts that are looked at on the others, where there is no time for all: one of each way to become more than text. */
const mainNames: readonly HostileName[] = ["image", "attribute", "javascript", "bidi", "long", "proto", "lines"];

/** Shows an execution and its tabs. Returns the texts that were shown. */
async function throughExecution(page: Page, kind: HostileKind): Promise<string> {
  await expectSeen(page.getByRole("application").getByRole("button").first());
  if (kind === "left") await expectSeen(page.getByText("no living worker can run it"));
  await expectOnlyText(page);
  const texts = await textOf(page);
  const tabs = page.getByRole("tablist", { name: "Views of the execution" });
  if (wholeKinds.includes(kind)) return texts + (await throughTabs(page, tabs));
  await tabs.getByRole("tab", { name: "Events" }).click();
  await expectOnlyText(page);
  return texts + (await textOf(page));
}

/** Shows each node of an execution, and every tab of the last one. Returns the texts that were shown. */
async function throughNodes(page: Page): Promise<string> {
  const texts: string[] = [];
  await page.getByRole("tab", { name: "Graph" }).click();
  await page.getByRole("button", { name: "Outline" }).click();
  for (const node of await page.getByRole("table").getByRole("button").all()) {
    await node.click();
    await expectOnlyText(page);
    texts.push(await textOf(page));
  }
  texts.push(await throughTabs(page, page.getByRole("complementary").getByRole("tablist")));
  return texts.join("\n");
}

/** What a kind of execution must have shown as it is, besides its id. */
function expectedTexts(kind: HostileKind, name: HostileName): readonly string[] {
  if (kind === "left") return ["no living worker can run it", `lacking ${head(name)}`];
  const value = JSON.stringify(hostileTexts[name]).slice(1, 60);
  if (!wholeKinds.includes(kind)) return [head(name)];
  // keys stand in parts that have to be opened, but for those of payloads
  return kind === "done" ? [head(name), value] : [head(name), value, keyOf(name).slice(0, 60)];
}

describe("hostile texts in everything that a page shows", () => {
  it.each(hostileKinds)("stay texts on all tabs of an execution: %s", { timeout: 600_000 }, async (kind) => {
    const site = await serveHostile();
    const browser = await startBrowser();
    const page = await openSite(browser, site);
    for (const name of effort.everyLook || wholeKinds.includes(kind) ? hostileNames : mainNames) {
      const id = hostileId(kind, name);
      await page.goto(site.url + executionPath(id));
      const texts = (await throughExecution(page, kind)) + (kind === "open" || kind === "done" ? await throughNodes(page) : "");
      for (const text of expectedTexts(kind, name)) expect(texts, name).toContain(text);
      expect(await page.evaluate(widthBeyond), name).toBe(0);
      await page.getByRole("heading", { level: 1 }).hover();
      await expectSeen(page.locator("[popover=manual]").getByText(id, { exact: true }));
      await expectOnlyText(page);
    }
    expectNoComplaints(browser);
  });

  it.each([
    ["a table", 1440],
    ["cards", 390],
  ])("stay texts in the list: %s", { timeout: 300_000 }, async (_, width) => {
    const site = await serveHostile();
    const browser = await startBrowser({ width, height: 844 });
    const page = await openSite(browser, site);
    const missing = new Set(hostileNames.flatMap((name) => hostileKinds.map((kind) => hostileId(kind, name))));
    const reasons = new Set(hostileNames);
    await page.getByRole("link", { name: hostileId("parked", "lines"), exact: true }).hover();
    await expect
      .poll(
        async () => {
          await expectOnlyText(page);
          const texts = await textOf(page);
          for (const id of missing) if (texts.includes(id)) missing.delete(id);
          for (const name of reasons) if (texts.includes(`${head(name)}`)) reasons.delete(name);
          await page.mouse.wheel(0, 500);
          return [...missing, ...reasons];
        },
        { timeout: 60_000, interval: 50 },
      )
      .toEqual([]);
    expectNoComplaints(browser);
  });
});

describe("what these tests look for", () => {
  it("is found where it is", async () => {
    const site = await serveHostile(["image"]);
    const browser = await startBrowser();
    const page = await openSite(browser, site);
    expect(await foreignMarkup(page)).toEqual([]);
    const tags: readonly HostileName[] = ["script", "image", "svg", "frame", "closing", "style"];
    for (const name of tags) {
      const marked = hostileTexts[name];
      const found = await page.evaluate((html) => {
        const { document } = globalThis as unknown as { readonly document: { readonly body: { innerHTML: string } } };
        const before = document.body.innerHTML;
        document.body.innerHTML = html;
        return before.length > 0;
      }, marked);
      expect(found && (await foreignMarkup(page)).length, name).toBeGreaterThan(0);
    }
    await page.evaluate((text) => {
      const { document } = globalThis as unknown as { readonly document: { readonly body: { innerHTML: string } } };
      document.body.innerHTML = `<p>${text} <b>until 10:02</b></p>`;
    }, hostileTexts.bidi);
    expect(await turningTexts(page)).toHaveLength(1);
    // the policy has kept all of it from running, and has said so
    expect(browser.complaints.found.filter((text) => text.startsWith("policy")).length).toBeGreaterThan(3);
    expect(browser.complaints.found.filter((text) => text.startsWith("dialog"))).toEqual([]);
  });
});
