import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { effort } from "../../scripts/test/effort.ts";
import { newFolder } from "../cli.ts";
import { violationsOf } from "./axe.ts";
import { expectNoComplaints, maxMs, startBrowser } from "./browser.ts";
import type { Look } from "./launch-browser.ts";
import { expectSeen } from "./page-content.ts";
import { executionStates, listStates, type PageState } from "./page-states.ts";
import type { Site } from "./serve-site.ts";
import { serveShop } from "./shop/shop-site.ts";

/** Each theme and each width; the other two of them only where there is time. */
const looks: readonly (readonly [name: string, look: Look])[] = [
  ["light", {}],
  ["dark, 390 px", { width: 390, height: 844, theme: "dark" }],
  ...(effort.everyLook
    ? ([
        ["dark", { theme: "dark" }],
        ["light, 390 px", { width: 390, height: 844 }],
      ] as const)
    : []),
];

/** A shop whose maps are small: what a page looks like does not depend on how many items there are. */
async function shop(): Promise<Site> {
  const site = await serveShop({
    ...{ folder: newFolder(), boxes: { "order-1001": 900, "order-1000": 20, "restock-31": 300 } },
    people: [{ name: "ada" }, { name: "reader", scopes: ["read"] }, { name: "starter", scopes: ["start"] }],
  });
  onTestFinished(site.close);
  return site;
}

/** The page can be used by everybody, and does not scroll sideways. */
async function expectUsable(page: Page, state: string): Promise<void> {
  expect(await violationsOf(page), state).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth"), `${state} scrolls sideways`).toBeLessThanOrEqual(0);
}

async function expectAllUsable(look: Look, states: Readonly<Record<string, PageState>>): Promise<void> {
  const site = await shop();
  const browser = await startBrowser(look);
  const page = await browser.open(site.link());
  for (const [name, state] of Object.entries(states)) {
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.goto("about:blank");
    if (states === listStates) {
      await page.goto(site.link());
      await expectSeen(page.getByRole("link", { name: "order-1001" }));
    }
    await state(page, { site, isNarrow: look.width === 390 });
    await expectUsable(page, name);
  }
  expectNoComplaints(browser);
}

describe("every page in every state can be used by everybody", () => {
  it.each(looks)("the list: %s", { timeout: 300_000 }, (_, look) => expectAllUsable(look, listStates));
  it.each(looks)("an execution: %s", { timeout: 300_000 }, (_, look) => expectAllUsable(look, executionStates));
});

describe("motion", () => {
  const running = (page: Page): Promise<unknown> =>
    page.evaluate("document.getAnimations().filter(({ playState }) => playState === 'running').length");

  it("is only where something runs, and nowhere for those who do not want it", async () => {
    const site = await shop();
    const browser = await startBrowser();
    const page = await browser.open(site.link());
    for (const path of ["/executions", "/executions/order-1001", "/executions/order-0988"]) {
      await page.emulateMedia({ reducedMotion: "no-preference" });
      await page.goto(site.url + path);
      await expectSeen(
        page
          .getByRole("main")
          .getByText(path === "/executions" ? "order-1001" : "approve")
          .first(),
      );
      // what opens comes to rest; what runs goes on
      if (path === "/executions/order-1001") await expect.poll(() => running(page), { timeout: maxMs }).toBeGreaterThan(0);
      await page.emulateMedia({ reducedMotion: "reduce" });
      await expect.poll(() => running(page), { timeout: maxMs }).toBe(0);
    }
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(await running(page)).toBe(0);
    expectNoComplaints(browser);
  });
});
