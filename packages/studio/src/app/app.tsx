import { type ReactNode, Suspense, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { MeView } from "stepfold/client";
import { ExecutionsPage } from "../pages/executions/executions-page.tsx";
import { ListKeeper } from "../pages/executions/list/list-keeper.ts";
import type { TextStorage } from "../session/safe-storage.ts";
import type { Session } from "../session/session.ts";
import { SignInDialog } from "../session/sign-in-dialog.tsx";
import { tabStorage } from "../session/tab-storage.ts";
import { Button } from "../ui/controls/button.tsx";
import { Announcer } from "../ui/feedback/announcer.ts";
import { EmptyState } from "../ui/feedback/empty-state.tsx";
import type { Failure } from "../ui/feedback/failure.ts";
import { FailureState } from "../ui/feedback/failure-state.tsx";
import { LiveRegion } from "../ui/feedback/live-region.tsx";
import layout from "../ui/layout.module.css";
import { TooltipHost } from "../ui/overlay/tooltip-host.tsx";
import styles from "./app.module.css";
import { FailureBoundary } from "./failure-boundary.tsx";
import { followLink } from "./follow-link.ts";
import { KeyModel } from "./keys/key-model.ts";
import { keyPressOf } from "./keys/key-press.ts";
import { KeysDialog } from "./keys/keys-dialog.tsx";
import { LinkModel } from "./link-model.ts";
import { LocationModel } from "./location-model.ts";
import { OfflineBanner } from "./offline-banner.tsx";
import { lazyPart } from "./page-recovery.ts";
import { executionPath, routeOf } from "./route.ts";
import { type Studio, StudioContext, useStudio } from "./studio-context.ts";
import { applyTheme, readTheme, writeTheme } from "./theme.ts";
import { TopBar } from "./top-bar.tsx";

const ExecutionPage = lazyPart(() => import("../pages/execution/execution-page.tsx").then((module) => module.ExecutionPage), tabStorage);

/** A server that does not answer is asked again after this time. */
const againMs = 3_000;

/** The whole app: it asks who the caller is, and then shows the page of the address. */
export function App({ session, storage }: { readonly session: Session; readonly storage: TextStorage }): ReactNode {
  const { me, question, failure } = useSyncExternalStore(session.subscribe, session.getState);
  useEffect(() => void session.check(), [session]);
  return (
    <TooltipHost className={styles.app}>
      {me ? (
        <Shell key={me.id} me={me} session={session} storage={storage} />
      ) : (
        failure && <Unreachable session={session} failure={failure} />
      )}
      {question && <SignInDialog question={question} isAgain={me !== null} onToken={session.signIn} />}
    </TooltipHost>
  );
}

/** The server has not said who the caller is. */
function Unreachable({ session, failure }: { readonly session: Session; readonly failure: Failure }): ReactNode {
  useEffect(() => {
    if (failure.httpStatus !== 0 && failure.httpStatus < 500) return;
    const timer = setTimeout(() => void session.checkAgain(), againMs);
    return () => clearTimeout(timer);
  }, [session, failure]);
  const signOut = (
    <Button icon="log-out" onClick={session.signOut}>
      Use another token
    </Button>
  );
  return (
    <main>
      <h1 className={layout.hidden}>Stepfold Studio</h1>
      <FailureState
        failure={failure}
        title={failure.code === "FORBIDDEN" ? "This token may not read anything" : "The server could not be reached"}
        needs="read"
        me={null}
        onRetry={() => void session.check()}
        actions={failure.code === "FORBIDDEN" && signOut}
      />
    </main>
  );
}

function Shell({ me, session, storage }: { readonly me: MeView; readonly session: Session; readonly storage: TextStorage }): ReactNode {
  const [parts] = useState(() => makeParts(storage));
  const { client } = session;
  const studio = useMemo<Studio>(() => ({ ...parts, client, me, announce: parts.announcer.announce }), [parts, client, me]);
  const [theme, setTheme] = useState(() => readTheme(storage));
  const [hasHelp, setHelp] = useState(false);
  useEffect(() => applyTheme(document.documentElement, theme), [theme]);
  usePageKeys(studio, () => setHelp(true));
  const chooseTheme = (chosen: typeof theme): void => {
    setTheme(chosen);
    writeTheme(storage, chosen);
  };
  return (
    <StudioContext value={studio}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: only the links inside it are clicked */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a key on a link is a click */}
      <div className={styles.shell} onClick={(event) => followLink(event, studio.navigate, (path) => routeOf(path).page !== "unknown")}>
        <TopBar theme={theme} onTheme={chooseTheme} onHelp={() => setHelp(true)} onSignOut={session.signOut} />
        <OfflineBanner />
        <CurrentPage />
        <LiveRegion announcer={parts.announcer} />
        {hasHelp && <KeysDialog keys={studio.keys} onClose={() => setHelp(false)} />}
      </div>
    </StudioContext>
  );
}

function CurrentPage(): ReactNode {
  const { location, client } = useStudio();
  const path = useSyncExternalStore(location.subscribe, location.getPath);
  const route = routeOf(path);
  // the same page has several addresses
  const key = route.page === "execution" ? executionPath(route.workflowId) : route.page;
  const main = useRef<HTMLElement>(null);
  const shown = useRef(key);
  useEffect(() => {
    // a new page is read from its beginning
    if (shown.current !== key) main.current?.focus();
    shown.current = key;
  }, [key]);
  return (
    <main ref={main} tabIndex={-1} className={styles.main}>
      <FailureBoundary key={key} ask={client.me}>
        <Suspense fallback={null}>
          {route.page === "executions" && <ExecutionsPage />}
          {route.page === "execution" && <ExecutionPage workflowId={route.workflowId} />}
          {route.page === "unknown" && <UnknownPage />}
        </Suspense>
      </FailureBoundary>
    </main>
  );
}

function UnknownPage(): ReactNode {
  const { navigate } = useStudio();
  return (
    <EmptyState icon="search" title="There is no such page" actions={<Button onClick={() => navigate("/executions")}>Executions</Button>}>
      The address may be mistyped, or the page may have moved.
    </EmptyState>
  );
}

function usePageKeys({ keys, navigate }: Studio, showHelp: () => void): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: showing the help is always the same
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (keys.press(keyPressOf(event), event.timeStamp)) event.preventDefault();
    };
    addEventListener("keydown", press);
    const remove = keys.add([
      { keys: "g e", does: "Go to the executions", act: () => navigate("/executions") },
      { keys: "?", does: "Show the keys", act: showHelp },
    ]);
    return () => {
      removeEventListener("keydown", press);
      remove();
    };
  }, [keys, navigate]);
}

/** What lasts as long as the page does. */
function makeParts(storage: TextStorage): Omit<Studio, "client" | "me" | "announce"> & { readonly announcer: Announcer } {
  const location = new LocationModel(window);
  return {
    storage,
    location,
    navigate: location.navigate,
    keys: new KeyModel(storage),
    link: new LinkModel(),
    lists: new ListKeeper(),
    announcer: new Announcer(),
  };
}
