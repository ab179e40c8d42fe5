import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { executionPath } from "../../packages/studio/src/app/route.ts";
import { expectNoComplaints, startBrowser } from "./browser.ts";
import { hostileId, serveHostile } from "./hostile/hostile-site.ts";
import { type HostileName, hostileNames, hostileTexts } from "./hostile/hostile-texts.ts";
import { keyOf } from "./hostile/hostile-workflows.ts";
import { expectOnlyText, expectSeen } from "./page-content.ts";
import { tokenOf } from "./serve-site.ts";

const encoded = (name: HostileName): string => encodeURIComponent(hostileTexts[name]);

/** The page shows something that it means to show: a page of its own, in which nothing is more than text. */
async function expectPage(page: Page): Promise<void> {
  await expectSeen(page.getByRole("main"));
  await expectOnlyText(page);
  await expect.poll(() => page.getByText("This page could not be shown").count()).toBe(0);
}

describe("hostile addresses", () => {
  it("are filters that match nothing, and never more", { timeout: 300_000 }, async () => {
    const site = await serveHostile(["image"]);
    const browser = await startBrowser();
    const page = await browser.open(site.link());
    await page.getByRole("table", { name: "Executions" }).waitFor();
    for (const name of hostileNames) {
      const text = encoded(name);
      const keys = ["q", "workflow", "node", "error", "idPrefix", "responder", "waiting", "created", "order", "status", "v", "tab", text];
      const query = [...keys.map((key) => `${key}=${text}`), `meta.${encodeURIComponent(keyOf(name))}=${text}`].join("&");
      await page.goto(`${site.url}/executions?${query}`);
      await expectSeen(page.getByRole("main").getByRole("heading", { level: 2 }));
      await expectPage(page);
      // each filter that is set shows its text, and in its editor
      for (const filter of await page
        .getByRole("search")
        .getByRole("button", { name: hostileTexts[name].slice(0, 20).trim() })
        .all()) {
        await filter.click();
        await expectOnlyText(page);
        await page.keyboard.press("Escape");
      }
    }
    expectNoComplaints(browser);
  });

  it("are views with a name of one's own, kept as text", async () => {
    const site = await serveHostile(["image"]);
    const browser = await startBrowser();
    const page = await browser.open(site.link("/executions?status=failed"));
    for (const name of ["image", "javascript", "attribute", "proto"] as const) {
      await page.goto(`${site.url}/executions?q=${encoded(name)}`);
      await page.getByRole("button", { name: "Save view" }).click();
      await page.getByRole("textbox", { name: "Name" }).fill(hostileTexts[name]);
      await page.keyboard.press("Enter");
      await expectSeen(page.getByRole("link", { name: hostileTexts[name], exact: true }));
      await expectPage(page);
    }
    await page.reload();
    await expectSeen(page.getByRole("link", { name: hostileTexts.image, exact: true }));
    await page.getByRole("link", { name: hostileTexts.javascript, exact: true }).click();
    expect(new URL(page.url()).searchParams.get("q")).toBe(hostileTexts.javascript);
    await expectPage(page);
    expectNoComplaints(browser);
  });

  it("name a version, a tab or a node that an execution does not have", { timeout: 300_000 }, async () => {
    const site = await serveHostile(["image"]);
    const browser = await startBrowser();
    const page = await browser.open(site.link());
    const path = executionPath(hostileId("open", "image"));
    const odd = ["-1", "0x10", "1e3", "99999999999999999999", "NaN", "", "toString", "../..", "1&v=2", "%00", "%f0%9f%92%a9"];
    for (const value of [...hostileNames.map(encoded), ...odd]) {
      await page.goto(`${site.url}${path}?v=${value}&tab=${value}&node=${value}&${value}=${value}#${value}`);
      await expectSeen(page.getByRole("tab", { name: "Graph", selected: true }));
      await expectPage(page);
    }
    expectNoComplaints(browser);
  });

  it("lead to no other place and to no markup, whatever the path is", { timeout: 300_000 }, async () => {
    const site = await serveHostile(["image"]);
    const browser = await startBrowser();
    const page = await browser.open(site.link());
    await page.getByRole("table", { name: "Executions" }).waitFor();
    for (const name of hostileNames) {
      // an execution that does not exist
      await page.goto(site.url + executionPath(`no ${hostileTexts[name]}`));
      await expectSeen(page.getByRole("main").getByRole("heading", { level: 2 }));
      await expectPage(page);
    }
    const paths = ["//hostile.invalid/", "/\\hostile.invalid", "/executions//hostile.invalid", "/%2f%2fhostile.invalid", "/executions/~"];
    const others = [
      "/executions/~%00",
      "/executions/%E0%A4%A",
      "/executions/..%2f..%2fv1",
      "/javascript:alert(1)",
      "/__proto__",
      "/executions/~__",
    ];
    for (const path of [...paths, ...others, ...hostileNames.map((name) => `/executions/${encoded(name)}`)]) {
      await page.goto(site.url + path);
      expect(new URL(page.url()).origin, path).toBe(site.url);
      await expectOnlyText(page);
    }
    expectNoComplaints(browser);
  });

  it("hand over tokens that are none, and the page asks for another", { timeout: 300_000 }, async () => {
    const site = await serveHostile(["image"]);
    const browser = await startBrowser();
    for (const name of hostileNames) {
      const page = await browser.open(`${site.url}/executions#t=${encoded(name)}&t=${encoded(name)}`);
      await expectSeen(page.getByRole("dialog", { name: "Sign in" }));
      expect(page.url(), name).not.toContain("#");
      await expectOnlyText(page);
      await page.getByLabel("Token").fill(tokenOf("ada"));
      await page.keyboard.press("Enter");
      await expectSeen(page.getByRole("table", { name: "Executions" }));
      await page.close();
    }
    expectNoComplaints(browser);
  });

  it("are answered by a server that says hostile things", { timeout: 300_000 }, async () => {
    const site = await serveHostile(["image"]);
    const browser = await startBrowser();
    const page = await browser.open(site.link());
    await page.getByRole("table", { name: "Executions" }).waitFor();
    for (const name of hostileNames) {
      const text = hostileTexts[name];
      const said = {
        type: text,
        title: text,
        status: 500,
        detail: text,
        code: text,
        retryable: text,
        details: { [keyOf(name)]: text },
        requestId: text,
      };
      const answer = { status: 500, contentType: "application/problem+json", body: JSON.stringify(said) };
      await page.route(/\/v1\/(executions|workflows)/, (route) => route.fulfill(answer));
      for (const path of ["/executions", executionPath(hostileId("open", "image"))]) {
        await page.goto(site.url + path);
        await expectSeen(page.getByRole("button", { name: "Try again" }));
        await expectPage(page);
      }
      await page.unroute(/\/v1\/(executions|workflows)/);
    }
    expectNoComplaints(browser);
  });
});
