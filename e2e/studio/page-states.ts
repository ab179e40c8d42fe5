import type { Locator, Page } from "playwright-core";
import { expectSeen } from "./page-content.ts";
import type { Site } from "./serve-site.ts";

/** Where a page is brought into a state. */
interface StateContext {
  readonly site: Site;
  readonly isNarrow: boolean;
}

/** Brings a page into a state: one that shows the list, or an empty one. */
export type PageState = (page: Page, context: StateContext) => Promise<void>;

const problem = (code: string, status: number) => ({
  status,
  contentType: "application/problem+json",
  body: JSON.stringify({
    ...{ type: `urn:stepfold:error:${code}`, title: code, status, detail: "The store does not answer.", code, retryable: true },
    ...{ details: {}, requestId: "r-0123456789" },
  }),
});

const press = (page: Page | Locator, name: string): Promise<void> => page.getByRole("button", { name, exact: true }).first().click();

/** Filters are buttons, and on a narrow page a sheet. */
async function openFilter(page: Page, isNarrow: boolean, name: string): Promise<void> {
  if (!isNarrow) return press(page.getByRole("search"), name);
  await page.getByRole("button", { name: /^Filters/ }).click();
  await page.getByRole("dialog").locator("summary").filter({ hasText: name }).click();
}

/** The states of the list. */
export const listStates: Readonly<Record<string, PageState>> = {
  async rows(page) {
    await expectSeen(page.getByText("27 executions, all shown.").or(page.getByText("28 executions, all shown.")));
  },
  async "a row under the cursor"(page) {
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await expectSeen(page.locator("[data-row]:focus"));
  },
  async "a filter by status"(page, { isNarrow }) {
    await openFilter(page, isNarrow, "Status");
    await page.getByRole("checkbox", { name: "failed" }).check();
  },
  async "a filter by workflow"(page, { isNarrow }) {
    await openFilter(page, isNarrow, "Workflow");
    await expectSeen(page.getByRole("button", { name: "trip-booking" }));
  },
  async "a filter by metadata"(page, { isNarrow }) {
    await openFilter(page, isNarrow, "Metadata");
    await expectSeen(page.getByRole("textbox", { name: "Key" }));
  },
  async "a view to save"(page, { site }) {
    await page.goto(`${site.url}/executions?status=failed&workflow=order`);
    await press(page, "Save view");
    await expectSeen(page.getByRole("textbox", { name: "Name" }));
  },
  async "nothing that matches"(page, { site }) {
    await page.goto(`${site.url}/executions?q=nothing-like-this&status=failed`);
    await expectSeen(page.getByText("Nothing matches these 2 filters"));
  },
  async "nothing at all"(page) {
    await page.route(/\/v1\/stream/, () => undefined);
    await page.route(/\/v1\/executions\?/, (route) =>
      route.fulfill({ json: { items: [], nextCursor: null, looked: null, complete: true, storeNow: Date.now() } }),
    );
    await page.reload();
    await expectSeen(page.getByText("No executions yet"));
  },
  async "still loading"(page) {
    await page.route(/\/v1\/executions\?/, () => undefined);
    await page.reload();
    await expectSeen(page.getByRole("link", { name: "All" }));
  },
  async "an error instead of rows"(page) {
    await page.route(/\/v1\/executions\?/, (route) => route.fulfill(problem("STORE_UNAVAILABLE", 503)));
    await page.reload();
    await expectSeen(page.getByText("The list could not be loaded"));
  },
  async "an error after rows"(page) {
    await page.route(/\/v1\/stream/, (route) => route.fulfill(problem("STORE_UNAVAILABLE", 503)));
    await page.reload();
    await expectSeen(page.getByText("Offline."));
  },
  async "a row that was deleted, and a new one"(page, { site }) {
    await page.getByRole("link", { name: "order-1001" }).hover();
    const { items } = await site.runtime.list({ status: ["completed"], limit: 1 });
    await site.store.delete(items[0]!.workflowId);
    await site.runtime.start("trip-booking", { input: { trip: "7" } });
    await expectSeen(page.getByText("was deleted"));
    await expectSeen(page.getByRole("button", { name: "1 new row" }));
  },
  async "a menu"(page, { isNarrow }) {
    await press(page, isNarrow ? "Menu" : "Theme");
    await expectSeen(page.getByRole("menuitem", { name: "Dark" }));
  },
  async "the keys"(page) {
    await page.keyboard.press("?");
    await expectSeen(page.getByRole("dialog", { name: "Keys" }));
  },
  async "a start"(page) {
    await press(page, "Start");
    await expectSeen(page.getByRole("dialog").getByRole("textbox", { name: "Order" }));
  },
  async "a start that is refused"(page) {
    await press(page, "Start");
    await page.getByRole("dialog").getByRole("textbox", { name: "Total" }).fill("-4");
    await press(page.getByRole("dialog"), "Start");
    await expectSeen(page.getByRole("dialog").getByText("This is needed").first());
  },
  async "a tooltip"(page, { site }) {
    await page.goto(`${site.url}/executions?q=0199b2f4`);
    await page.getByRole("link", { name: "0199b2f4" }).locator("span").first().hover({ force: true });
    await expectSeen(page.locator("[popover=manual]"));
  },
  async "no page"(page, { site }) {
    await page.goto(`${site.url}/executions/~`);
    await expectSeen(page.getByText("There is no such page"));
  },
  async "a sign-in"(page, { site }) {
    await page.evaluate("sessionStorage.clear()");
    await page.goto(`${site.url}/executions`);
    await expectSeen(page.getByRole("dialog", { name: "Sign in" }));
  },
  async "a sign-in that is refused, over a page"(page) {
    await page.route(/\/v1\/executions\?/, (route) => route.fulfill(problem("UNAUTHENTICATED", 401)));
    await page.getByRole("link", { name: "Needs somebody" }).click();
    await page.getByLabel("Token").fill("wrong-wrong-wrong-wrong");
    await page.keyboard.press("Enter");
    await expectSeen(page.getByText("The server does not take this token."));
  },
  async "no right to see anything"(page, { site }) {
    await page.goto("about:blank");
    await page.goto(site.link("/executions", "starter"));
    await expectSeen(page.getByText(/may not (see|read)/).first());
  },
  async "no right to start anything"(page, { site }) {
    await page.goto("about:blank");
    await page.goto(site.link("/executions", "reader"));
    await page.getByRole("button", { name: "Start" }).hover();
    await expectSeen(page.locator("[popover=manual]").getByText("may not start"));
  },
};

/** Opens an execution, and waits until its state is known. */
async function open(page: Page, { site }: StateContext, id: string, query = ""): Promise<void> {
  await page.goto(site.link(`/executions/${id}${query}`));
  await expectSeen(page.getByRole("tab", { name: "Graph" }));
  await expectSeen(
    page
      .getByRole("main")
      .getByText(/^(active|paused|failed|completed|cancelled|parked|retrying)$/)
      .first(),
  );
}

const showsTab =
  (tab: string, seen: string | RegExp): PageState =>
  async (page, context) => {
    await open(page, context, "order-1001");
    await page.getByRole("tab", { name: tab }).first().click();
    await expectSeen(page.getByRole("main").getByText(seen).first());
  };

const opens =
  (id: string, seen: string | RegExp): PageState =>
  async (page, context) => {
    await open(page, context, id);
    await expectSeen(page.getByRole("main").getByText(seen).first());
  };

const showsInspector =
  (tab: string): PageState =>
  async (page, context) => {
    await open(page, context, "order-1001", "?node=price");
    const about = page.getByRole("complementary");
    await about.getByRole("tab", { name: tab }).click();
    await expectSeen(about.getByRole("tabpanel"));
  };

/** Actions are buttons, and on a narrow page a menu. */
const asks =
  (id: string, action: string): PageState =>
  async (page, context) => {
    await open(page, context, id);
    if (context.isNarrow) {
      await press(page, "Actions");
      await page.getByRole("menuitem", { name: action }).click();
    } else await press(page, action);
    await expectSeen(page.getByRole("dialog").getByRole("heading", { name: action }));
  };

/** The states of an execution. */
export const executionStates: Readonly<Record<string, PageState>> = {
  graph: showsTab("Graph", "join all, 0 of 3"),
  timeline: showsTab("Timeline", "since the start"),
  events: showsTab("Events", /^[\d,]+ events$/),
  context: showsTab("Context", "The latest output of each node"),
  json: showsTab("JSON", "everything that the execution knows"),
  "input of a node": showsInspector("Input"),
  "output of a node": showsInspector("Output"),
  "attempts of a node": showsInspector("Attempts"),
  "definition of a node": showsInspector("Definition"),
  failed: opens("order-0990", "FatalError"),
  retrying: opens("order-0988", /again in|retrying/),
  "waiting for others": opens("post-212", "Publish"),
  "waiting for a signal": opens("trip-4417", "payment"),
  cancelled: opens("trip-4415", "customer called"),
  completed: opens("trip-4416", "Completed."),
  parked: opens("order-0977", "COMPENSATION_FAILED"),
  left: opens("order-0991", "no living worker can run it"),
  running: opens("post-211", "render"),
  "a long loop": opens("import-88", "pages"),
  async outline(page, context) {
    await open(page, context, "order-1001");
    await press(page, "Outline");
    await expectSeen(page.getByRole("columnheader", { name: "Leads to" }));
  },
  async "an answer that lacks something"(page, context) {
    await open(page, context, "order-1001");
    await press(page.getByRole("complementary"), "Answer as ada");
    await expectSeen(page.getByText("Choose one"));
  },
  async "an answer as JSON"(page, context) {
    await open(page, context, "order-1001");
    await press(page.getByRole("complementary"), "As JSON");
    await expectSeen(page.getByRole("textbox", { name: "Value" }));
  },
  async "the past"(page, context) {
    await open(page, context, "order-0990", "?v=4");
    await expectSeen(page.getByText("You look at v4"));
  },
  async "an event of the past"(page, context) {
    await open(page, context, "order-0990", "?v=4&tab=events&node=charge");
    await expectSeen(page.getByRole("tab", { name: "Event", exact: true }));
  },
  cancel: asks("order-1001", "Cancel"),
  retry: asks("order-0988", "Retry"),
  restart: asks("order-0990", "Restart"),
  async "still loading"(page, { site }) {
    await page.route(/\/v1\/executions\/order-1001$/, () => undefined);
    await page.goto(site.link("/executions/order-1001"));
    await expectSeen(page.locator("main [aria-busy=true]"));
  },
  async "no such execution"(page, { site }) {
    await page.goto(site.link("/executions/none"));
    await expectSeen(page.getByText("There is no such execution"));
  },
  async "an error"(page, { site }) {
    await page.route(/\/v1\/executions\/order-1001$/, (route) => route.fulfill(problem("STORE_UNAVAILABLE", 503)));
    await page.goto(site.link("/executions/order-1001"));
    await expectSeen(page.getByText("The execution could not be loaded"));
  },
  async "no right to see values"(page, context) {
    await page.goto(context.site.link("/executions/order-1001", "reader"));
    await expectSeen(page.getByText("no values and messages"));
    await page.getByRole("tab", { name: "JSON" }).click();
    await expectSeen(page.getByText("not visible to you").first());
  },
  async deleted(page, context) {
    const { items } = await context.site.runtime.list({ status: ["completed"], limit: 1 });
    await open(page, context, items[0]!.workflowId);
    await context.site.store.delete(items[0]!.workflowId);
    await expectSeen(page.getByText("Deleted."));
  },
  async offline(page, context) {
    await open(page, context, "order-1001");
    await context.site.stopServing();
    await expectSeen(page.getByText("Offline."));
    await context.site.serveAgain();
  },
};
