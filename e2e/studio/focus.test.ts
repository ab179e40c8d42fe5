import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { newFolder } from "../cli.ts";
import { expectNoComplaints, maxMs, startBrowser } from "./browser.ts";
import { expectSeen } from "./page-content.ts";
import type { Site } from "./serve-site.ts";
import { serveShop } from "./shop/shop-site.ts";

async function shop(): Promise<Site> {
  const site = await serveShop({ folder: newFolder(), boxes: { "order-1001": 40, "order-1000": 10, "restock-31": 30 } });
  onTestFinished(site.close);
  return site;
}

/** What has the focus, in words; `nothing` if it was lost. */
function focused(page: Page): Promise<string> {
  return page.evaluate(
    "document.activeElement === document.body ? 'nothing' : (document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent)",
  );
}

/** Whether the element with the focus is inside what is open. */
function isInside(page: Page): Promise<boolean> {
  return page.evaluate("document.activeElement.closest('dialog[open], [popover]:popover-open') !== null");
}

/** Opens what a button opens by the keyboard; the focus goes into it, and comes back when Escape closes it. */
async function expectReturn(page: Page, name: string | RegExp): Promise<void> {
  const button = page.getByRole("button", { name }).first();
  await button.focus();
  const before = await focused(page);
  await page.keyboard.press("Enter");
  await expect.poll(() => isInside(page), { timeout: maxMs, message: `the focus is in what ${name} opens` }).toBe(true);
  await page.keyboard.press("Escape");
  await expect.poll(() => focused(page), { timeout: maxMs, message: `the focus is back on ${name}` }).toBe(before);
}

describe("the focus", () => {
  it("goes into what is opened on the list, and comes back", async () => {
    const site = await shop();
    const browser = await startBrowser();
    const page = await browser.open(site.link());
    await expectSeen(page.getByRole("link", { name: "order-1001" }));
    const names = ["Start", "Status", "Workflow", "Waits for", "Created", "Metadata", "Node", "Newest first", "Theme", /You are ada/];
    for (const name of names) await expectReturn(page, name);
    await page.goto(`${site.url}/executions?status=failed&node=charge`);
    await expectSeen(page.getByRole("link", { name: "order-0990" }));
    await expectReturn(page, "Save view");
    await page.getByRole("link", { name: "order-0990" }).focus();
    const row = await focused(page);
    await page.keyboard.press("?");
    await expectSeen(page.getByRole("dialog", { name: "Keys" }));
    await page.keyboard.press("Escape");
    await expect.poll(() => focused(page), { timeout: maxMs }).toBe(row);
    // what is removed cannot keep it
    await page.getByRole("button", { name: "Remove the filter Node" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).searchParams.has("node"), { timeout: maxMs }).toBe(false);
    await expect.poll(() => focused(page), { timeout: maxMs, message: "after a filter was removed" }).not.toBe("nothing");
    expectNoComplaints(browser);
  });

  it("goes into the dialogs of an execution, and comes back", async () => {
    const site = await shop();
    const browser = await startBrowser();
    const page = await browser.open(site.link("/executions/order-0988"));
    await expectSeen(page.getByText("503 Service Unavailable").first());
    for (const name of ["Cancel", "Retry"]) await expectReturn(page, name);
    await page.goto(`${site.url}/executions/order-0990`);
    await expectReturn(page, "Restart");
    // the inspector is closed, and opened again by its node
    await page.getByRole("complementary").getByRole("button", { name: "Close" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("complementary").waitFor({ state: "detached" });
    await expect.poll(() => focused(page), { timeout: maxMs, message: "after the inspector was closed" }).not.toBe("nothing");
    expectNoComplaints(browser);
  });

  it("goes into the sheet and the menus of a narrow page, and comes back", async () => {
    const site = await shop();
    const browser = await startBrowser({ width: 390, height: 844 });
    const page = await browser.open(site.link());
    await expectSeen(page.getByRole("link", { name: "order-1001" }));
    for (const name of [/^Filters/, "Menu", "Start"]) await expectReturn(page, name);
    await page.goto(`${site.url}/executions/order-1001`);
    await expectReturn(page, "Actions");
    expectNoComplaints(browser);
  });

  it("goes to the page that a link leads to, and back to the row", async () => {
    const site = await shop();
    const browser = await startBrowser();
    const page = await browser.open(site.link());
    await page.getByRole("link", { name: "order-0990" }).focus();
    await page.keyboard.press("Enter");
    await expectSeen(page.getByRole("heading", { level: 1, name: "order-0990" }));
    await expect.poll(() => page.evaluate("document.activeElement.localName"), { timeout: maxMs }).toBe("main");
    await page.goBack();
    await expectSeen(page.getByRole("link", { name: "order-0990" }));
    await expect.poll(() => focused(page), { timeout: maxMs }).not.toBe("nothing");
    expectNoComplaints(browser);
  });
});
