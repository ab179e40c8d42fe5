import { type ReactNode, useSyncExternalStore } from "react";
import { Icon } from "../ui/icons/icon.tsx";
import layout from "../ui/layout.module.css";
import { Menu, type MenuEntry } from "../ui/overlay/menu.tsx";
import { BrandMark } from "./brand-mark.tsx";
import { routeOf } from "./route.ts";
import { useStudio } from "./studio-context.ts";
import type { Theme } from "./theme.ts";
import styles from "./top-bar.module.css";
import { useNarrow } from "./use-narrow.ts";

const themes: readonly (readonly [theme: Theme, word: string])[] = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
];

/** What the top bar shows and does. */
export interface TopBarProps {
  readonly theme: Theme;
  readonly onTheme: (theme: Theme) => void;
  readonly onHelp: () => void;
  readonly onSignOut: () => void;
}

/** The bar at the top of every page: where one is, whether news come, who one is. */
export function TopBar(props: TopBarProps): ReactNode {
  const isNarrow = useNarrow();
  const { location } = useStudio();
  const path = useSyncExternalStore(location.subscribe, location.getPath);
  return (
    <header className={styles.bar}>
      <a className={styles.brand} href="/executions">
        <BrandMark />
        Stepfold
      </a>
      <nav className={styles.pages} aria-label="Main">
        <a href="/executions" aria-current={routeOf(path).page === "executions" ? "page" : "true"}>
          Executions
        </a>
      </nav>
      <span className={styles.gap} />
      <LiveMark />
      {isNarrow ? <NarrowMenu {...props} /> : <WideMenus {...props} />}
    </header>
  );
}

function WideMenus({ theme, onTheme, onHelp, onSignOut }: TopBarProps): ReactNode {
  const { me } = useStudio();
  return (
    <>
      <Menu
        button={{ kind: "ghost", icon: theme === "light" ? "sun" : theme === "dark" ? "moon" : "monitor", label: "Theme" }}
        label="Theme"
        align="end"
        entries={themeEntries(theme, onTheme)}
      />
      <Menu
        button={{ kind: "ghost", className: styles.account, children: <Avatar name={me.id} /> }}
        label="You"
        align="end"
        entries={accountEntries(onHelp, onSignOut)}
      />
    </>
  );
}

function NarrowMenu({ theme, onTheme, onHelp, onSignOut }: TopBarProps): ReactNode {
  const entries = [...themeEntries(theme, onTheme), null, ...accountEntries(onHelp, onSignOut)];
  return <Menu button={{ kind: "ghost", icon: "menu", label: "Menu" }} label="Menu" align="end" entries={entries} />;
}

function themeEntries(chosen: Theme, onTheme: (theme: Theme) => void): readonly MenuEntry[] {
  return themes.map(([theme, word]) => ({ word, end: theme === chosen && <Icon name="check" />, onChoose: () => onTheme(theme) }));
}

function accountEntries(onHelp: () => void, onSignOut: () => void): readonly MenuEntry[] {
  return [
    { word: "Keys", icon: "keyboard", end: "?", onChoose: onHelp },
    { word: "Sign out", icon: "log-out", onChoose: onSignOut },
  ];
}

/** Two letters of a name; the whole name is read aloud. */
function Avatar({ name }: { readonly name: string }): ReactNode {
  return (
    <>
      <span className={styles.avatar} data-tip={name}>
        {[...name].slice(0, 2).join("")}
      </span>
      <span className={layout.hidden}>You are {name}</span>
    </>
  );
}

function LiveMark(): ReactNode {
  const { link } = useStudio();
  const state = useSyncExternalStore(link.subscribe, link.getState);
  if (!state) return null;
  const word = state.isLive ? "live" : state.againAt === null ? "connecting" : "offline";
  return (
    <span className={styles.live} data-live={state.isLive || undefined}>
      {word}
    </span>
  );
}
