import { type ReactNode, useEffect, useSyncExternalStore } from "react";
import { useStudio } from "../../app/studio-context.ts";
import { useNarrow } from "../../app/use-narrow.ts";
import { scopeReason } from "../../session/scopes.ts";
import { Button } from "../../ui/controls/button.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { FailureState } from "../../ui/feedback/failure-state.tsx";
import { Notice } from "../../ui/feedback/notice.tsx";
import { nounText } from "../../ui/text/number-text.ts";
import styles from "./executions-page.module.css";
import { filterKinds } from "./filters/filter-kinds.tsx";
import { countFilters, type Filters, noFilters } from "./filters/filters.ts";
import type { ListModel } from "./list/list-model.ts";
import type { ListState } from "./list/list-state.ts";
import { ListFoot } from "./list-foot.tsx";
import { ListSkeleton } from "./list-skeleton.tsx";
import { cardPx, ExecutionCards } from "./rows/execution-cards.tsx";
import { ExecutionTable, tableRowPx } from "./rows/execution-table.tsx";
import { useRowCursor } from "./rows/use-row-cursor.ts";
import { useRowWindow } from "./rows/use-row-window.ts";

interface ContentProps {
  readonly model: ListModel;
  readonly filters: Filters;
  readonly onFilters: (change: Partial<Filters>) => void;
  readonly onStart: () => void;
}

/** What is below the filters: the rows, or why there are none. */
export function ListContent(props: ContentProps): ReactNode {
  const { model } = props;
  const { me } = useStudio();
  const state = useSyncExternalStore(model.subscribe, model.getState);
  const { rows, failure, isLoaded, problem } = state;
  const retry = (): void => void model.retry();
  if (failure && rows.length === 0)
    return <FailureState failure={failure} title="The list could not be loaded" needs="read" me={me} onRetry={retry} />;
  return (
    <>
      {failure && (
        <Notice
          status="failed"
          icon="circle-alert"
          actions={
            <Button isSmall onClick={retry}>
              Try again
            </Button>
          }
        >
          <b>{failure.code}</b>: {failure.message} {failure.requestId && `request ${failure.requestId}`}
        </Notice>
      )}
      {problem && (
        <Notice status="retrying" icon="cloud-off">
          <b>{problem}</b>: the server cannot tell of changes at the moment. It goes on by itself.
        </Notice>
      )}
      {!isLoaded && <ListSkeleton />}
      {isLoaded && rows.length === 0 && (
        <div className={styles.instead}>
          <NoRows {...props} state={state} />
        </div>
      )}
      {isLoaded && rows.length > 0 && <Rows model={model} state={state} />}
      {isLoaded && rows.length > 0 && <ListFoot state={state} onMore={() => void model.loadMore()} />}
    </>
  );
}

function Rows({ model, state }: { readonly model: ListModel; readonly state: ListState }): ReactNode {
  const { rows, arrived, nextCursor, looked } = state;
  const isNarrow = useNarrow();
  const rowPx = isNarrow ? cardPx : tableRowPx;
  const { scroller, first, end } = useRowWindow(rows.length, rowPx);
  const { announce, lists } = useStudio();
  const setCursor = useRowCursor(scroller, lists, rows.length, rowPx);
  useEffect(() => {
    model.see(first, end);
    // a filter by text goes on only when it is asked to
    if (end > rows.length - 20 && looked === null) void model.loadMore();
  }, [model, first, end, rows.length, looked]);
  useEffect(() => {
    if (arrived.length > 0) announce(`${nounText(arrived.length, "new row")}.`);
  }, [announce, arrived.length]);
  const show = (): void => {
    model.showArrived();
    scroller.current?.scrollTo({ top: 0 });
  };
  const button = arrived.length > 0 && (
    <button type="button" className={styles.arrived} onClick={show}>
      {nounText(arrived.length, "new row")}
    </button>
  );
  const hasMore = nextCursor !== null;
  return (
    <>
      {isNarrow && button && <div className={styles.arrivedBar}>{button}</div>}
      <div ref={scroller} className={styles.scroller}>
        {isNarrow ? (
          <ExecutionCards rows={rows} window={{ first, end }} />
        ) : (
          <ExecutionTable rows={rows} window={{ first, end }} hasMore={hasMore} arrived={button} onCursor={setCursor} />
        )}
      </div>
    </>
  );
}

/** Why there are no rows, and what to do: nothing matches, or there is nothing yet. */
function NoRows(props: ContentProps & { readonly state: ListState }): ReactNode {
  const { model, filters, onStart, state } = props;
  const { me } = useStudio();
  if (state.arrived.length > 0) {
    return (
      <EmptyState
        icon="inbox"
        title="Something new"
        actions={<Button onClick={model.showArrived}>Show {nounText(state.arrived.length, "new row")}</Button>}
      >
        It has come since this list was opened.
      </EmptyState>
    );
  }
  if (countFilters(filters) > 0) return <NothingMatches {...props} />;
  const start = (
    <Button icon="play" disabledReason={scopeReason(me, "start")} onClick={onStart}>
      Start one
    </Button>
  );
  return (
    <EmptyState icon="inbox" title="No executions yet" actions={start}>
      What you start appears here, newest first. Nothing is hidden by a filter.
    </EmptyState>
  );
}

function NothingMatches({ model, filters, onFilters, state }: ContentProps & { readonly state: ListState }): ReactNode {
  const { looked, nextCursor, isLoadingMore } = state;
  const set = filterKinds.filter(({ valueText }) => valueText(filters) !== null);
  const count = countFilters(filters);
  const last = count > 1 ? set.at(-1) : undefined;
  const actions = (
    <>
      {nextCursor !== null && (
        <Button busyWord={isLoadingMore ? "Looking" : null} onClick={() => void model.loadMore()}>
          Look further
        </Button>
      )}
      <Button onClick={() => onFilters(noFilters)}>Clear filters</Button>
      {last && (
        <Button kind="ghost" icon="x" onClick={() => onFilters(last.cleared)}>
          {last.word}: {last.valueText(filters)}
        </Button>
      )}
    </>
  );
  return (
    <EmptyState icon="funnel" title={`Nothing matches ${count === 1 ? "this filter" : `these ${count} filters`}`} actions={actions}>
      {lookedText(looked, nextCursor !== null)}
    </EmptyState>
  );
}

function lookedText(looked: number | null, hasMore: boolean): string {
  if (looked === null) return "Of all executions, none does.";
  return hasMore
    ? `Looked at the newest ${nounText(looked, "execution")}. There are more.`
    : `Looked at ${nounText(looked, "execution")}: there are no more.`;
}
