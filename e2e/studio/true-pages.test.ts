import type { Page } from "playwright-core";
import { defineNode, FatalError } from "stepfold";
import { describe, expect, it, onTestFinished } from "vitest";
import { newFolder } from "../cli.ts";
import { expectNoComplaints, maxMs, startBrowser } from "./browser.ts";
import { expectSeen } from "./page-content.ts";
import { type Site, type SiteOptions, serveSite } from "./serve-site.ts";

const nodeDefinitions = {
  endless: defineNode({
    executor: (_data, { signal }) =>
      new Promise<never>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
  }),
  boom: defineNode({
    executor: () => {
      throw new FatalError("boom <b>bold</b> at b");
    },
  }),
};

const work = {
  id: "work",
  nodes: [
    { id: "render", type: "endless" },
    { id: "later", type: "noop" },
  ],
  edges: [{ source: "render", target: "later" }],
};
const broken = { id: "broken", nodes: [{ id: "b", type: "boom" }], edges: [] };
const words = Array.from({ length: 200 }, (_, index) => `clause ${index + 1}`).join(", ");
const contract = { id: "contract", nodes: [{ id: "sign", type: "approval", data: { message: `${words}: the end` } }], edges: [] };

async function serve(options: Partial<SiteOptions> = {}): Promise<Site> {
  const site = await serveSite({ folder: newFolder(), workflows: [work, broken, contract], nodeDefinitions, ...options });
  onTestFinished(site.close);
  return site;
}

const card = (page: Page, name: string) => page.getByRole("application").getByRole("button", { name: new RegExp(`^${name}\\b`) });

describe("a page says what is so", () => {
  it("also of a lease that is renewed, and of one that ends: the page in the words of the list", { timeout: 120_000 }, async () => {
    const site = await serve({ drive: false });
    await site.runtime.start("work", { workflowId: "held" });
    const browser = await startBrowser();
    const page = await browser.open(site.link("/executions/held"));
    await expectSeen(page.getByText(/render is ready to run\. Nobody has taken it yet\./));
    const leaseMs = 8_000;
    const [claim] = await site.store.claim({ owner: "worker-dead", leaseMs, limit: 1 });
    await expectSeen(page.getByText(/render runs\. Held by worker-dead\./));
    await site.store.renew(claim!);
    const renewed = Date.now();
    // it is still held when the first lease would have ended
    await expect.poll(() => Date.now() - claim!.claimedAt, { timeout: maxMs }).toBeGreaterThan(leaseMs + 200);
    if (Date.now() - renewed < leaseMs - 500) expect(await page.locator("main").innerText()).toMatch(/Held by\s*worker-dead/);
    const left = /was held by worker-dead until \d\d:\d\d:\d\d, and nobody has taken it yet/i;
    await expect.poll(() => page.locator("main").innerText(), { timeout: maxMs }).toMatch(left);
    expect(await page.locator("main").innerText()).toContain("render is ready to run.");
    await page.getByRole("link", { name: "Executions" }).first().click();
    await expect.poll(() => page.getByRole("row", { name: "held" }).innerText(), { timeout: maxMs }).toMatch(left);
    expectNoComplaints(browser);
  });

  it("of what ran when it was cancelled, and of what was not reached", { timeout: 120_000 }, async () => {
    const site = await serve();
    const run = await site.runtime.start("work", { workflowId: "stopped" });
    const browser = await startBrowser();
    const page = await browser.open(site.link("/executions/stopped"));
    await card(page, "render").getByText("active").waitFor();
    await run.cancel({ reason: "enough" });
    await card(page, "render").getByText("cancelled").waitFor();
    await card(page, "later").getByText("not reached").waitFor();
    const timeline = page.getByRole("region", { name: "Timeline" });
    await expectSeen(timeline.getByRole("button", { name: "render" }));
    expect(await timeline.locator('[data-kind="stopped"]').count()).toBeGreaterThan(0);
    await page.getByRole("button", { name: "Outline" }).click();
    await expectSeen(page.getByRole("row", { name: /render.*cancelled/ }));
    await expectSeen(page.getByRole("row", { name: /later.*not reached/ }));
    // nothing covers the rows
    await page.getByRole("button", { name: "later", exact: true }).click();
    expectNoComplaints(browser);
  });

  it("names a node only where the sentence does, and not in a text that it quotes", { timeout: 60_000 }, async () => {
    const site = await serve();
    await site.runtime.start("broken", { workflowId: "boom" });
    const browser = await startBrowser();
    const page = await browser.open(site.link("/executions/boom"));
    const sentence = page.locator("p").filter({ hasText: "Failed at" });
    await expect.poll(() => sentence.innerText(), { timeout: maxMs }).toBe("Failed at b: boom <b>bold</b> at b.");
    expect(await sentence.locator("code").allInnerTexts()).toEqual(["b"]);
    expectNoComplaints(browser);
  });

  it.each([1440, 390])("shows all of a question, %i px wide, by the keyboard", { timeout: 60_000 }, async (width) => {
    const site = await serve();
    await site.runtime.start("contract", { workflowId: "deal" });
    const browser = await startBrowser({ width, height: 844 });
    const page = await browser.open(site.link("/executions/deal"));
    const panel = page.getByRole("complementary", { name: "sign" });
    const button = panel.getByRole("button", { name: "Show all" });
    await button.waitFor();
    expect(await panel.innerText()).not.toContain("the end");
    await button.focus();
    await page.keyboard.press("Enter");
    await expectSeen(panel.getByText("clause 200: the end"));
    expect(await panel.getByRole("button", { name: "Show less" }).getAttribute("aria-expanded")).toBe("true");
    await page.keyboard.press("Enter");
    await button.waitFor();
    expectNoComplaints(browser);
  });

  it("of an address that asks for what nobody knows", { timeout: 60_000 }, async () => {
    const site = await serve();
    await site.runtime.start("contract", { workflowId: "deal" });
    const browser = await startBrowser();
    const page = await browser.open(site.link());
    await page.goto(`${site.url}/executions?status=bogus&foo=1`);
    await expectSeen(page.getByText("status=bogus, foo=1"));
    await expectSeen(page.getByRole("link", { name: "deal" }));
    await page.getByRole("button", { name: "Show all" }).click();
    expect(page.url()).toBe(`${site.url}/executions`);
    await expect.poll(() => page.getByText("status=bogus").count()).toBe(0);
    expectNoComplaints(browser);
  });
});

describe("a page comes back", () => {
  it("by itself when it was opened while the server was away, with its code and without", { timeout: 120_000 }, async () => {
    const site = await serve();
    await site.runtime.start("contract", { workflowId: "deal" });
    const browser = await startBrowser();
    const page = await browser.open(site.link());
    await page.getByRole("link", { name: "deal" }).waitFor();
    // the code of the page is not there yet
    await site.stopServing();
    await page.getByRole("link", { name: "deal" }).click();
    await expectSeen(page.getByText("This page could not be loaded"));
    await site.serveAgain();
    await expectSeen(page.getByRole("complementary", { name: "sign" }));
    // its code is there, and its execution is not
    await page.getByRole("link", { name: "Executions" }).first().click();
    await page.getByRole("link", { name: "deal" }).waitFor();
    await site.stopServing();
    await page.getByRole("link", { name: "deal" }).click();
    await expectSeen(page.getByText("Offline."));
    expect(await page.getByText("could not be loaded").count()).toBe(0);
    await site.serveAgain();
    await expectSeen(page.getByRole("complementary", { name: "sign" }));
    await expect.poll(() => page.getByText("Offline.").count(), { timeout: maxMs }).toBe(0);
  });

  it("in a second tab without a question, as long as the first one is open", { timeout: 60_000 }, async () => {
    const site = await serve();
    await site.runtime.start("contract", { workflowId: "deal" });
    const browser = await startBrowser();
    const first = await browser.open(site.link());
    await first.getByRole("link", { name: "deal" }).waitFor();
    const second = await browser.open(`${site.url}/executions/deal`);
    await expectSeen(second.getByRole("complementary", { name: "sign" }));
    expect(await second.evaluate("JSON.stringify(localStorage) + document.cookie + location.href")).not.toContain("site-token");
    await first.close();
    await second.close();
    const third = await browser.open(`${site.url}/executions/deal`);
    await expectSeen(third.getByRole("dialog", { name: "Sign in" }));
    expectNoComplaints(browser);
  });

  it("and scrolls over its graph in a narrow window", { timeout: 60_000 }, async () => {
    const site = await serve();
    await site.runtime.start("contract", { workflowId: "deal" });
    const browser = await startBrowser({ width: 390, height: 700 });
    const page = await browser.open(site.link("/executions/deal"));
    await card(page, "sign").waitFor();
    const graph = page.getByRole("application");
    await graph.scrollIntoViewIfNeeded();
    const top = async (): Promise<number> => (await graph.boundingBox())!.y;
    const zoom = async (): Promise<string> => page.getByText(/^\d+ %$/).innerText();
    const [before, zoomBefore] = [await top(), await zoom()];
    await graph.hover();
    await page.mouse.wheel(0, -200);
    await expect.poll(top, { timeout: maxMs }).toBeGreaterThan(before);
    expect(await zoom()).toBe(zoomBefore);
    await graph.hover();
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -200);
    await page.keyboard.up("Control");
    await expect.poll(zoom, { timeout: maxMs }).not.toBe(zoomBefore);
    expectNoComplaints(browser);
  });
});
