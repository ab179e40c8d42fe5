import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { executionPath } from "../../packages/studio/src/app/route.ts";
import { expectNoComplaints, maxMs, startBrowser } from "./browser.ts";
import { hostileId, serveHostile } from "./hostile/hostile-site.ts";
import { type HostileName, hostileNames, hostileTexts } from "./hostile/hostile-texts.ts";
import { hostileInput, keyOf } from "./hostile/hostile-workflows.ts";
import { expectOnlyText, expectSeen, textOf } from "./page-content.ts";

/** As much of a text as is shown everywhere. */
const head = (name: HostileName): string => hostileTexts[name].slice(0, 60).trim();

const shown = async (page: Page, text: string): Promise<void> => {
  await expect.poll(() => textOf(page), { timeout: maxMs, interval: 20 }).toContain(text);
  await expectOnlyText(page);
};

describe("hostile texts in forms and dialogs", () => {
  it("stay texts where an execution is started, refused and linked", { timeout: 300_000 }, async () => {
    const site = await serveHostile();
    const browser = await startBrowser();
    const page = await browser.open(site.link());
    await page.getByRole("button", { name: "Start" }).click();
    const dialog = page.getByRole("dialog", { name: "Start an execution" });
    const press = (name: string): Promise<void> => dialog.getByRole("button", { name, exact: true }).click();
    for (const name of hostileNames) {
      await dialog.getByRole("combobox").first().selectOption(`done-${name}`);
      await shown(page, head(name));
      // what the page refuses
      await dialog.locator("input[inputmode=decimal]").fill(hostileTexts[name]);
      await press("Start");
      await expectSeen(dialog.getByText("Must be a number"));
      await expectOnlyText(page);
      // what the server refuses: it quotes keys and values
      await press("As JSON");
      await dialog.getByRole("textbox", { name: "Value" }).fill(JSON.stringify({ [keyOf(name)]: 7, boxes: "none", amount: 0 }));
      await press("Start");
      await expectSeen(dialog.getByText("INPUT_INVALID"));
      await expectOnlyText(page);
      const id = hostileId("done", name).replace("done", "started");
      await dialog.getByRole("textbox", { name: "Value" }).fill(JSON.stringify(hostileInput(name)));
      await dialog.getByRole("textbox", { name: "Id" }).fill(id);
      await press("Start");
      // it is shown; a second start links to it
      await expectSeen(page.getByRole("heading", { level: 1, name: id, exact: true }));
      await expectOnlyText(page);
      await page.goBack();
      await page.getByRole("button", { name: "Start" }).click();
      await dialog.getByRole("combobox").first().selectOption(`done-${name}`);
      await press("As JSON");
      await dialog.getByRole("textbox", { name: "Value" }).fill(JSON.stringify(hostileInput(name)));
      await dialog.getByRole("textbox", { name: "Id" }).fill(id);
      await press("Start");
      await expectSeen(dialog.getByRole("link", { name: id, exact: true }));
      await expectOnlyText(page);
    }
    expectNoComplaints(browser);
  });

  it("stay texts where an execution is answered, and what was answered and by whom", { timeout: 300_000 }, async () => {
    const site = await serveHostile();
    const browser = await startBrowser();
    for (const name of hostileNames) {
      const text = hostileTexts[name];
      const id = `answer-${name}`;
      await site.runtime.start(`done-${name}`, { workflowId: id, input: hostileInput(name) });
      const page = await browser.open(site.link(executionPath(id), text));
      const form = page.getByRole("complementary").locator("form");
      await form.getByRole("radio", { name: "Approve" }).check();
      await form.locator("input[inputmode=decimal]").fill("0");
      await form.getByRole("button", { name: "Answer as" }).click();
      await expectSeen(form.locator("[aria-invalid=true]").first());
      await expectOnlyText(page);
      await form.locator("input[inputmode=decimal]").fill("2");
      await form
        .getByRole("textbox")
        .first()
        .fill(text.replaceAll(/[\r\n\u2028\u2029]/g, " "));
      await form.getByRole("button", { name: "Answer as" }).click();
      await expectSeen(page.getByText("Completed."));
      await page.getByRole("tab", { name: "Events" }).click();
      await shown(page, "is answered by");
      await page.getByRole("button", { name: "You are" }).click();
      await expectOnlyText(page);
      await page.close();
    }
    expectNoComplaints(browser);
  });

  it("stay texts where an execution is cancelled, retried and restarted", { timeout: 300_000 }, async () => {
    const site = await serveHostile();
    const browser = await startBrowser();
    const page = await browser.open(site.link());
    const dialog = page.getByRole("dialog");
    const ask = async (action: string): Promise<Locator> => {
      await page.getByRole("button", { name: action, exact: true }).click();
      await expectSeen(dialog.getByRole("heading", { name: action }));
      await expectOnlyText(page);
      return dialog;
    };
    for (const name of hostileNames) {
      await page.goto(site.url + executionPath(hostileId("open", name)));
      await ask("Retry");
      await dialog.getByRole("button", { name: "Retry now" }).click();
      await dialog.waitFor({ state: "detached" });
      await ask("Cancel");
      await dialog.getByRole("textbox", { name: "Reason" }).fill(hostileTexts[name]);
      await dialog.getByRole("button", { name: "Cancel execution" }).click();
      await dialog.waitFor({ state: "detached" });
      await shown(page, head(name));
      await ask("Restart");
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
    }
    expectNoComplaints(browser);
  });
});
