import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { newFolder } from "../cli.ts";
import { expectNoComplaints, maxMs, startBrowser, waitUntil } from "./browser.ts";
import { type Served, startDev } from "./served.ts";

const chosen = (page: Page): ReturnType<Page["getByRole"]> => page.getByRole("complementary");
const tab = (page: Page, name: string): ReturnType<Page["getByRole"]> =>
  page.getByRole("tablist", { name: "Views of the execution" }).getByRole("tab", { name });
const node = (page: Page, name: string): ReturnType<Page["getByRole"]> =>
  page.getByRole("application").getByRole("button", { name: new RegExp(`^${name}\\b`) });

/** What the shop of the sample has sent. */
const shipments = ({ running }: Served): number => running.stdout().split("leaves the house").length - 1;

async function statusOf({ client }: Served, id: string): Promise<string> {
  return (await client.executions.get(id)).status;
}

const order = (id: string) => ({
  workflow: "order",
  id,
  input: { order: id, customer: "Ada", items: [{ article: "desk", price: 10, count: 1 }] },
});

/** Waits until the approval of an execution is open and its reservation has passed. */
async function readyToAnswer(dev: Served, id: string): Promise<void> {
  await waitUntil(async () => {
    const { items } = await dev.client.executions.events(id, { type: "completed", node: "reserve" }).catch(() => ({ items: [] }));
    return items.length > 0 && (await dev.client.executions.get(id)).waits.some(({ nodeId }) => nodeId === "approve");
  }, `${id} waits for its answer`);
}

/** Starts `dev` with a sample that was changed: its retries come too soon for a browser on a busy machine. */
async function startDevWith(change: (sample: string) => string): Promise<Served> {
  const { running, folder } = await startDev();
  running.child.kill("SIGTERM");
  await running.ended;
  const path = join(folder, "workflows/order.json");
  writeFileSync(path, change(readFileSync(path, "utf8")));
  return startDev({ folder });
}

describe("stepfold dev in an empty folder", () => {
  it("opens the waiting sample by its link, and takes the token out of the address", async () => {
    const dev = await startDev();
    const browser = await startBrowser();
    const page = await browser.open(dev.studio);
    await page.getByRole("link", { name: "order-1" }).waitFor();
    expect(page.url()).not.toContain(dev.token);
    expect(await page.evaluate("JSON.stringify(history.state) + location.href")).not.toContain(dev.token);
    await page.getByRole("link", { name: "order-1" }).click();
    await page.getByRole("heading", { name: "order-1", level: 1 }).waitFor();
    await node(page, "approve").waitFor();
    await page.getByText("waits for an answer, until").first().waitFor();
    // the page has its own address, and is there again after a reload
    await page.reload();
    await node(page, "approve").waitFor();
    expectNoComplaints(browser);
  });

  it("shows a failed attempt, its countdown, the attempt that passes, and takes the answer", async () => {
    const shown = await startDevWith((sample) => sample.replaceAll('"2s"', '"15s"'));
    const browser = await startBrowser();
    await shown.client.executions.start(order("order-7"));
    // by its address: a list that is open already holds new rows back until somebody asks for them
    const page = await browser.open(`${shown.url}/executions/order-7#t=${shown.token}`);
    await node(page, "reserve").getByText("retrying").waitFor();
    await node(page, "reserve")
      .getByText(/0:[01]\d/)
      .waitFor();
    await node(page, "reserve")
      .getByText("completed")
      .waitFor({ timeout: 3 * maxMs });
    await page.getByRole("radio", { name: "Approve" }).check();
    await chosen(page)
      .getByRole("button", { name: /^Answer as/ })
      .click();
    await waitUntil(async () => (await statusOf(shown, "order-7")) === "completed", "it completes");
    await expect.poll(() => shipments(shown), { timeout: maxMs }).toBe(1);
    const answered = (await shown.client.executions.events("order-7", { type: "resumed" })).items[0];
    expect(answered?.who).toBeTruthy();
    expectNoComplaints(browser);
  });

  it("declines an order that is rejected, and ships nothing", async () => {
    const dev = await startDev();
    const browser = await startBrowser();
    const page = await browser.open(dev.studio);
    await readyToAnswer(dev, "order-1");
    await page.getByRole("link", { name: "order-1" }).click();
    await page.getByRole("radio", { name: "Reject" }).check();
    await chosen(page)
      .getByRole("textbox", { name: /comment/i })
      .fill("not today");
    await chosen(page)
      .getByRole("button", { name: /^Answer as/ })
      .click();
    await node(page, "declined").getByText("completed").waitFor();
    expect((await dev.client.executions.get("order-1")).output).toEqual({ order: "1", declined: true });
    await node(page, "ship").getByText("not reached").waitFor();
    expect(dev.running.stdout()).not.toContain("leaves the house");
    expectNoComplaints(browser);
  });

  it("starts an order by the form: a mistake is marked at its field, and what was started is shown", async () => {
    const dev = await startDev();
    const browser = await startBrowser();
    const page = await browser.open(dev.studio);
    await page.getByRole("link", { name: "order-1" }).waitFor();
    await page.getByRole("button", { name: "Start" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: /^Customer/ }).fill("Bo");
    await dialog.getByRole("textbox", { name: /^Items/ }).fill('[{"article":"desk","price":1,"count":1}]');
    await dialog.getByRole("button", { name: "Start" }).click();
    const field = dialog.getByRole("textbox", { name: /^Order/ });
    await waitUntil(async () => (await field.getAttribute("aria-invalid")) === "true", "the field is marked");
    expect((await dev.client.executions.list()).items).toHaveLength(1);
    await field.fill("77");
    await dialog.getByRole("textbox", { name: /^Id/ }).fill("order-77");
    await dialog.getByRole("button", { name: "Start" }).click();
    await page.getByRole("heading", { name: "order-77", level: 1 }).waitFor();
    await dialog.waitFor({ state: "hidden" });
    expect((await dev.client.executions.list()).items).toHaveLength(2);
    // back in the list it is there, behind a button or at once
    await page.goBack();
    await page
      .getByRole("button", { name: /^1 new/ })
      .or(page.getByRole("link", { name: "order-77" }))
      .first()
      .waitFor();
    expectNoComplaints(browser);
  });

  it("links to an execution that had been started before under the same id", async () => {
    const dev = await startDev();
    await dev.client.executions.start(order("order-5"));
    const browser = await startBrowser({ width: 390, height: 844 });
    const page = await browser.open(dev.studio);
    await page.getByRole("button", { name: "Start" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "As JSON" }).click();
    await dialog.getByRole("textbox", { name: "Value" }).fill(JSON.stringify(order("order-5").input));
    await dialog.getByRole("textbox", { name: /^Id/ }).fill("order-5");
    await dialog.getByRole("button", { name: "Start" }).click();
    const link = dialog.getByRole("link", { name: "order-5" });
    await link.waitFor();
    // nothing covers it
    await link.click();
    await page.getByRole("heading", { name: "order-5", level: 1 }).waitFor();
    expectNoComplaints(browser);
  });
});

describe("a page", () => {
  it("two of which answer one wait: one answer is applied, the other tab says so and keeps its text", async () => {
    const dev = await startDev();
    await readyToAnswer(dev, "order-1");
    const browser = await startBrowser();
    const first = await browser.open(dev.studio);
    await first.getByRole("link", { name: "order-1" }).click();
    const second = await browser.open(`${dev.url}/executions/order-1#t=${dev.token}`);
    for (const page of [first, second]) {
      await page.getByRole("radio", { name: "Approve" }).check();
      await chosen(page)
        .getByRole("textbox", { name: /comment/i })
        .fill(page === first ? "from the first" : "from the second");
    }
    await chosen(first)
      .getByRole("button", { name: /^Answer as/ })
      .click();
    await waitUntil(async () => (await statusOf(dev, "order-1")) === "completed", "it completes");
    // the second tab says that somebody else was first; what was typed is still there
    await second
      .getByText(/answered|already|no longer|is over/i)
      .first()
      .waitFor();
    await waitUntil(
      async () =>
        (await second.locator("body").innerText()).includes("from the second") ||
        (await second
          .getByRole("textbox", { name: /comment/i })
          .inputValue()
          .catch(() => "")) === "from the second",
      "the text is kept",
    );
    const answers = (await dev.client.executions.events("order-1", { type: "resumed" })).items;
    expect(answers).toHaveLength(1);
    expect(answers[0]).toMatchObject({ payload: { approved: true, comment: "from the first" } });
    expectNoComplaints(browser);
  });

  it("shows the past: graph, context and sentence of a version, with countdowns that stand still and nothing that acts", async () => {
    const dev = await startDev();
    await readyToAnswer(dev, "order-1");
    await dev.client.executions.answer("order-1", { step: "approve", payload: { approved: true } });
    await waitUntil(async () => (await statusOf(dev, "order-1")) === "completed", "it completes");
    const browser = await startBrowser();
    const page = await browser.open(`${dev.url}/executions/order-1#t=${dev.token}`);
    await node(page, "shipped").getByText("completed").waitFor();
    let requests = 0;
    page.on("request", () => requests++);
    await page.getByRole("slider", { name: "Version" }).fill("5");
    await waitUntil(() => page.url().includes("v=5"), "the version is in the address");
    await node(page, "approve").getByText("paused").waitFor();
    await node(page, "ship").getByText("not yet").waitFor();
    const left = async (): Promise<string> => (await node(page, "approve").innerText()).match(/\d+:\d\d:\d\d/)?.[0] ?? "";
    const before = await left();
    expect(before).toMatch(/^\d:\d\d:\d\d$/);
    const asked = Date.now();
    await waitUntil(() => Date.now() - asked > 1_500, "a second and a half passes");
    expect(await left()).toBe(before);
    expect(
      await page
        .getByRole("button", { name: /^Answer/ })
        .filter({ visible: true })
        .count(),
    ).toBe(0);
    await page
      .getByText(/waits for an answer/)
      .first()
      .waitFor();
    await tab(page, "Context").click();
    await page.getByRole("tabpanel", { name: "Context" }).getByText("price").first().waitFor();
    expect(requests).toBe(0);
    await page.keyboard.press("l");
    await waitUntil(() => !page.url().includes("v="), "it is live again");
    expectNoComplaints(browser);
  });

  it("shows where a path ended by a handle without an edge, and a refusal of a service as the failure of its step", async () => {
    const folder = newFolder();
    writeFileSync(
      join(folder, "pay.json"),
      JSON.stringify({
        id: "pay",
        nodes: [
          { id: "bank", type: "http", data: { method: "POST", url: "{{ input.url }}", body: { json: { pay: 1 } } } },
          { id: "ask", type: "approval", data: { title: "Pay?" } },
          { id: "paid", type: "end", data: {} },
        ],
        edges: [
          { source: "bank", target: "ask" },
          { source: "ask", target: "paid", sourceHandle: "approved" },
        ],
        start: "bank",
      }),
    );
    writeFileSync(
      join(folder, "stepfold.config.mjs"),
      'import { httpNode } from "stepfold/nodes/http";\nexport default { nodeDefinitions: { http: httpNode({ allowHosts: ["127.0.0.1"] }) } };\n',
    );
    const { createServer } = await import("node:http");
    const bank = createServer((request, response) => {
      response.writeHead(request.url === "/ok" ? 200 : 401, { "content-type": "application/json" }).end('{"error":"card_expired"}');
    });
    await new Promise<void>((resolve) => bank.listen(0, "127.0.0.1", resolve));
    const bankUrl = `http://127.0.0.1:${(bank.address() as { port: number }).port}`;
    const dev = await startDev({ folder, args: ["pay.json"] });
    await dev.client.executions.start({ workflow: "pay", id: "refused", input: { url: `${bankUrl}/no` } });
    await dev.client.executions.start({ workflow: "pay", id: "rejected", input: { url: `${bankUrl}/ok` } });
    await waitUntil(async () => (await statusOf(dev, "refused")) === "failed", "the bank refuses");
    await waitUntil(async () => (await dev.client.executions.get("rejected")).waitCount === 1, "it waits");
    await dev.client.executions.answer("rejected", { payload: { approved: false } });
    const browser = await startBrowser();
    const refused = await browser.open(`${dev.url}/executions/refused#t=${dev.token}`);
    await node(refused, "bank").getByText("failed").waitFor();
    await refused.getByText("401").first().waitFor();
    await node(refused, "bank").click();
    await chosen(refused)
      .getByRole("tab", { name: /Output|Attempts/ })
      .first()
      .click();
    await chosen(refused).getByText("card_expired").first().waitFor();

    const rejected = await browser.open(`${dev.url}/executions/rejected#t=${dev.token}`);
    await node(rejected, "ask")
      .getByText(/rejected, ends here/)
      .waitFor();
    await rejected.getByRole("button", { name: "Outline" }).click();
    await rejected
      .getByRole("table")
      .getByText(/rejected, ends here/)
      .waitFor();
    expectNoComplaints(browser);
    bank.close();
  });

  it("cancels with a reason, retries at once, restarts what failed under the same id, and says what a missing scope forbids", async () => {
    const dev = await startDev();
    await readyToAnswer(dev, "order-1");
    await dev.client.executions.start(order("o-2"));
    await readyToAnswer(dev, "o-2");
    const browser = await startBrowser();
    const page = await browser.open(`${dev.url}/executions/o-2#t=${dev.token}`);
    await page.getByRole("button", { name: /^Cancel/ }).click();
    await page.getByRole("dialog").getByRole("textbox").fill("sold out");
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^Cancel/ })
      .last()
      .click();
    await page.getByRole("main").getByText("cancelled", { exact: true }).first().waitFor();
    await page.getByText("sold out").first().waitFor();
    await page.getByRole("button", { name: /^Restart/ }).click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^Restart/ })
      .click();
    await node(page, "approve").getByText("paused").waitFor();
    expect((await dev.client.executions.get("o-2")).restarts).toBe(1);
    expect(readFileSync(join(dev.folder, ".stepfold/token"), "utf8").trim()).toBe(dev.token);
    expectNoComplaints(browser);
  });
});
