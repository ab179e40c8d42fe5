import { type ReactNode, Suspense, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { lazyPart } from "../../app/page-recovery.ts";
import { useStudio } from "../../app/studio-context.ts";
import { useLink } from "../../app/use-link.ts";
import { useSearch } from "../../app/use-location.ts";
import { useTitle } from "../../app/use-title.ts";
import { useWhileSeen } from "../../app/use-while-seen.ts";
import { scopeReason } from "../../session/scopes.ts";
import { tabStorage } from "../../session/tab-storage.ts";
import { Button } from "../../ui/controls/button.tsx";
import { Notice } from "../../ui/feedback/notice.tsx";
import layout from "../../ui/layout.module.css";
import { ticker } from "../../ui/text/now.tsx";
import { FilterBar } from "./filters/filter-bar.tsx";
import { countFilters, type Filters, filtersOf, queryOf, searchOf, unknownIn } from "./filters/filters.ts";
import { ListModel } from "./list/list-model.ts";
import { ListContent } from "./list-content.tsx";
import { SavedViews } from "./views/saved-views.ts";
import { ViewBar } from "./views/view-bar.tsx";

const StartDialog = lazyPart(() => import("./start/start-dialog.tsx").then((module) => module.StartDialog), tabStorage);

/** The list of executions: views, filters, and the rows, which are live. */
export function ExecutionsPage(): ReactNode {
  const { me, navigate, storage } = useStudio();
  const search = useSearch();
  const filters = useMemo(() => filtersOf(search), [search]);
  const [views] = useState(() => new SavedViews(storage));
  const [isStarting, setStarting] = useState(false);
  const model = useListModel(filters);
  const state = useSyncExternalStore(model.subscribe, model.getState);
  useTitle("Executions");
  useLink(state.link);
  const change = (changes: Partial<Filters>): void => navigate(`/executions${searchOf({ ...filters, ...changes })}`);
  const start = (
    <Button kind="primary" icon="play" disabledReason={scopeReason(me, "start")} onClick={() => setStarting(true)}>
      Start
    </Button>
  );
  return (
    <>
      <h1 className={layout.hidden}>Executions</h1>
      <ViewBar views={views} search={searchOf(filters)} actions={start} />
      <UnknownFilters search={search} filters={filters} />
      <FilterBar filters={filters} onChange={change} />
      <ListContent key={searchOf(filters)} model={model} filters={filters} onFilters={change} onStart={() => setStarting(true)} />
      {isStarting && (
        <Suspense fallback={null}>
          <StartDialog workflow={filters.workflow} onClose={() => setStarting(false)} />
        </Suspense>
      )}
    </>
  );
}

/** Names what the address asks for and nobody knows: it filters nothing. */
function UnknownFilters({ search, filters }: { readonly search: string; readonly filters: Filters }): ReactNode {
  const { navigate } = useStudio();
  const unknown = unknownIn(search);
  if (unknown.length === 0) return null;
  const hasOthers = countFilters(filters) > 0;
  const actions = (
    <Button isSmall onClick={() => navigate("/executions")}>
      Show all
    </Button>
  );
  return (
    <Notice status="retrying" icon="funnel" actions={actions}>
      The address asks for <b>{unknown.join(", ")}</b>, which is not known here and filters nothing. What is shown is{" "}
      {hasOthers ? "only filtered by what stands below" : "not filtered"}.
    </Notice>
  );
}

/** The list for these filters, as long as the page is shown and seen. */
function useListModel(filters: Filters): ListModel {
  const { client, lists } = useStudio();
  const make = (): ListModel => new ListModel(client, queryOf(filters, ticker.read()), ticker);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other filters, another list
  const model = useMemo(() => lists.listOf(searchOf(filters), Date.now(), make), [client, lists, filters]);
  useWhileSeen(model.open);
  useEffect(() => () => lists.leave(Date.now()), [lists]);
  return model;
}
