import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { expectNoComplaints, startBrowser, waitUntil } from "./browser.ts";
import { startDev } from "./served.ts";

/** What has the focus: its role and its name, as a screen reader says it. */
async function focused(page: Page): Promise<string> {
  return page.evaluate(`(() => {
    const one = document.activeElement;
    if (!one || one === document.body) return "nothing";
    const label = one.labels?.[0]?.textContent ?? one.getAttribute("aria-label") ?? one.textContent ?? "";
    const labelled = (one.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
    return (one.getAttribute("role") ?? one.tagName.toLowerCase()) + (one.type ? " " + one.type : "") + ": " + (labelled + " " + label).replace(/\\s+/g, " ").trim();
  })()`);
}

/** Presses Tab until the focus is on what is looked for. The focus can be seen at each stop. */
async function tabTo(page: Page, wanted: RegExp, { back = false, max = 60 } = {}): Promise<void> {
  const seen: string[] = [];
  for (let stops = 0; stops < max; stops++) {
    const at = await focused(page);
    if (wanted.test(at)) return;
    seen.push(at);
    await page.keyboard.press(back ? "Shift+Tab" : "Tab");
    expect(await isFocusVisible(page), `the focus can be seen on ${await focused(page)}`).toBe(true);
  }
  throw new Error(`The focus never came to ${wanted}. It was on:\n${seen.join("\n")}`);
}

/** Waits for a focus that comes with the next picture. */
async function focusComesTo(page: Page, wanted: RegExp): Promise<void> {
  await waitUntil(async () => wanted.test(await focused(page)), `the focus is on ${wanted}`);
}

/** Whether the element with the focus, or what stands for it, is marked and in sight. The body has no mark. */
async function isFocusVisible(page: Page): Promise<boolean> {
  return page.evaluate(`(() => {
    const one = document.activeElement;
    if (!one || one === document.body) return true;
    const marked = (element) => {
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
      return (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || boxShadow !== "none";
    };
    const { top, left } = one.getBoundingClientRect();
    const around = [one, one.parentElement, one.closest("label"), one.closest("[role=row]"), ...(one.closest("[role=row]")?.children ?? []), one.nextElementSibling].filter(Boolean);
    return around.some(marked) && top < innerHeight && left < innerWidth;
  })()`);
}

it("a whole order goes by the keyboard alone: started, watched, answered; and its rejected twin", async () => {
  const dev = await startDev();
  const browser = await startBrowser();
  const page = await browser.open(dev.studio);
  await page.getByRole("link", { name: "order-1" }).waitFor();

  // a start by the form
  await tabTo(page, /^button.*Start$/);
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await tabTo(page, /Order string/);
  await page.keyboard.type("77");
  await tabTo(page, /Customer string/);
  await page.keyboard.type("Bo");
  await tabTo(page, /^textarea.*Items/);
  await page.keyboard.type('[{"article":"desk","price":1,"count":1}]');
  await tabTo(page, /Id/);
  await page.keyboard.type("order-77");
  await tabTo(page, /^button.*: Start$/);
  await page.keyboard.press("Enter");
  // it is shown at once, and opened from the list too
  await page.getByRole("heading", { level: 1, name: "order-77" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await page.getByRole("link", { name: "order-1", exact: true }).waitFor();
  const more = page.getByRole("button", { name: /^1 new/ });
  await more
    .or(page.getByRole("link", { name: "order-77" }))
    .first()
    .waitFor();
  if ((await more.count()) > 0) {
    await tabTo(page, /^button.*1 new/);
    await page.keyboard.press("Enter");
  }
  await page.getByRole("link", { name: "order-77" }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "order-77" }).waitFor();
  const graph = page.getByRole("application");
  await graph.getByRole("button", { name: /^reserve .*completed/ }).waitFor();
  await graph.getByRole("button", { name: /^approve .*paused/ }).waitFor();

  // the answer
  await page.keyboard.press("a");
  await focusComesTo(page, /radio/);
  await page.keyboard.press("Space");
  expect(await page.getByRole("radio", { name: "Approve" }).isChecked()).toBe(true);
  await tabTo(page, /comment/i);
  await page.keyboard.type("fine: j k l a are only letters here");
  await tabTo(page, /^button.*Answer as/);
  await page.keyboard.press("Enter");
  await waitUntil(async () => (await dev.client.executions.get("order-77")).status === "completed", "it completes");
  expect((await dev.client.executions.events("order-77", { type: "resumed" })).items[0]).toMatchObject({
    payload: { approved: true, comment: "fine: j k l a are only letters here" },
  });

  // tabs, versions, and back to the list
  await page.keyboard.press("3");
  await page.getByRole("tab", { name: /^Events/, selected: true }).waitFor();
  await page.keyboard.press("[");
  await waitUntil(() => page.url().includes("v="), "a version of the past is shown");
  // the first attempt has failed, and the second one counted down
  await page.keyboard.press("1");
  const retrying = graph.getByRole("button", { name: /^reserve .*retrying/ });
  await waitUntil(async () => {
    if ((await retrying.count()) > 0) return true;
    await page.keyboard.press("[");
    return false;
  }, "the version after the failed attempt is shown");
  await retrying.getByText(/0:0\d/).waitFor();
  await retrying.getByText(/503/).waitFor();
  await page.keyboard.press("l");
  await waitUntil(() => !page.url().includes("v="), "the present is shown");
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await page.getByRole("link", { name: "order-1", exact: true }).waitFor();

  // the twin is rejected
  await tabTo(page, /^a: order-1$/);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "order-1" }).waitFor();
  await graph.getByRole("button", { name: /^approve .*paused/ }).waitFor();
  await page.keyboard.press("a");
  await focusComesTo(page, /radio/);
  await page.keyboard.press("ArrowRight");
  expect(await page.getByRole("radio", { name: "Reject" }).isChecked()).toBe(true);
  await tabTo(page, /^button.*Answer as/);
  await page.keyboard.press("Enter");
  await graph.getByRole("button", { name: /^declined .*completed/ }).waitFor();
  expect((await dev.client.executions.get("order-1")).output).toEqual({ order: "1", declined: true });
  expectNoComplaints(browser);
});

it("the graph is walked along its edges, and says where it is", async () => {
  const dev = await startDev();
  const browser = await startBrowser();
  const page = await browser.open(`${dev.url}/executions/order-1#t=${dev.token}`);
  const graph = page.getByRole("application");
  await graph.getByRole("button", { name: /^approve .*paused/ }).waitFor();
  // Tab enters where it stands
  await tabTo(page, /^button button: approve ?approval/);
  await page.keyboard.press("ArrowLeft");
  await focusComesTo(page, /quote|reserve/);
  await page.keyboard.press("ArrowLeft");
  await focusComesTo(page, /: price/);
  await page.keyboard.press("ArrowRight");
  await focusComesTo(page, /quote|reserve/);
  await page.keyboard.press("Enter");
  await page.getByRole("complementary", { name: /quote|reserve/ }).waitFor();
  expectNoComplaints(browser);
});
