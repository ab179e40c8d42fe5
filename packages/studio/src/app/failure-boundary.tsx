import { Component, type ReactNode, useEffect } from "react";
import { bySystem } from "../model/silent-stream.ts";
import { tabStorage } from "../session/tab-storage.ts";
import { Button } from "../ui/controls/button.tsx";
import { EmptyState } from "../ui/feedback/empty-state.tsx";
import { isNotLoaded, recoverPage } from "./page-recovery.ts";

interface BoundaryProps {
  readonly children: ReactNode;
  /** Asks the server anything, to see that it answers. */
  readonly ask: () => Promise<unknown>;
}

interface BoundaryState {
  /** Null: nothing has failed. */
  readonly message: string | null;
  /** The code could not be loaded: it can be had when the server answers. */
  readonly isNotLoaded: boolean;
}

/** Shows that a page could not be shown, instead of nothing: its code could not be loaded, or it has a mistake. */
export class FailureBoundary extends Component<BoundaryProps, BoundaryState> {
  static getDerivedStateFromError(error: unknown): BoundaryState {
    return { message: error instanceof Error ? error.message : String(error), isNotLoaded: isNotLoaded(error) };
  }

  override readonly state: BoundaryState = { message: null, isNotLoaded: false };

  override render(): ReactNode {
    const { message, isNotLoaded: canRecover } = this.state;
    const { children, ask } = this.props;
    if (message === null) return children;
    return canRecover ? <NotLoaded message={message} ask={ask} /> : <Broken message={message} />;
  }
}

function Broken({ message }: { readonly message: string }): ReactNode {
  return (
    <EmptyState icon="circle-alert" status="failed" title="This page could not be shown" actions={<Reload />}>
      {message}
    </EmptyState>
  );
}

function NotLoaded({ message, ask }: { readonly message: string; readonly ask: () => Promise<unknown> }): ReactNode {
  useEffect(() => {
    const reload = (): void => location.reload();
    return recoverPage({ tab: tabStorage, isKept: tabStorage.isKept(), ask, reload, schedule: bySystem });
  }, [ask]);
  return (
    <EmptyState icon="cloud-off" status="retrying" title="This page could not be loaded" actions={<Reload />}>
      {message}
      <br />
      It is loaded again when the server answers.
    </EmptyState>
  );
}

function Reload(): ReactNode {
  return (
    <Button icon="refresh-cw" onClick={() => location.reload()}>
      Load the page again
    </Button>
  );
}
