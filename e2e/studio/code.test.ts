import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { newFolder } from "../cli.ts";
import { expectNoComplaints, startBrowser, waitUntil } from "./browser.ts";
import { startDev } from "./served.ts";

const config = `
import { defineDurable } from "stepfold";

const item = defineDurable({ id: "item", run: ({ step }) => step.waitFor("ok") });
const order = defineDurable({
  id: "order",
  workflows: [item],
  async run({ step }) {
    await step.run("charge", () => "paid");
    await step.run("mail", () => { throw new Error("no address"); }).catch(() => null);
    await Promise.all([
      step.node("approve", "approval", { title: "Ship it?" }),
      step.sleep("pause", "1h"),
      step.run("label", { retry: { maxAttempts: 3, interval: "1h" } }, () => { throw new Error("no paper"); }),
    ]);
  },
});
export default { workflows: [order] };
`;

const node = (page: Page, name: string): ReturnType<Page["getByRole"]> =>
  page.getByRole("application").getByRole("button", { name: new RegExp(`^${name}\\b`) });
const steps = ["charge", "mail", "approve", "pause", "label"];

describe("the page of an execution that is written as code", () => {
  it("shows its steps, in the graph, the list and the timeline, and answers them", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "stepfold.config.mjs"), config);
    const dev = await startDev({ folder });
    await dev.client.executions.start({ workflow: "order", id: "order-7" });
    await waitUntil(async () => (await dev.client.executions.get("order-7")).waits.length === 2, "it waits");
    const browser = await startBrowser();
    const page = await browser.open(dev.studio);
    await page.getByRole("link", { name: "order-7" }).click();
    for (const step of steps) await node(page, step).waitFor();
    expect(await node(page, "order").count()).toBe(0);
    const timeline = page.getByRole("region", { name: "Timeline" });
    await timeline.getByText("charge").first().waitFor();
    expect(await timeline.getByText("order", { exact: true }).count()).toBe(0);

    await page.getByRole("button", { name: "Outline" }).click();
    const names = page.getByRole("region", { name: "Nodes" }).getByRole("row").getByRole("button");
    expect((await names.allTextContents()).sort()).toEqual([...steps].sort());
    await names.filter({ hasText: "approve" }).click();
    const form = page.getByRole("complementary", { name: "approve" });
    expect(await form.getByRole("tab", { name: "Definition" }).count()).toBe(0);
    await form.getByText("Approve", { exact: true }).click();
    await form.getByRole("button", { name: /^Answer as/ }).click();
    await waitUntil(async () => (await dev.client.executions.get("order-7")).waits.length === 1, "it was answered");
    await page.getByRole("row").filter({ hasText: "approve" }).getByText("completed").waitFor();
    await page.getByRole("tab", { name: /^Events/ }).click();
    await page.getByText("rests until one of its steps goes on").first().waitFor();
    expectNoComplaints(browser);
  });
});
