// The page: tabs, theme, and who starts when.

import { get, type Model } from "./api.js";
import { byId, fillSelect, REDRAW, say, sayError } from "./dom.js";
import { startGraphs } from "./graphs.js";
import { startMaps } from "./maps.js";
import { startPacman } from "./pacman.js";
import { startRuns } from "./runs.js";

const TABS = ["graphs", "maps", "pacman", "runs", "report"] as const;
type Tab = (typeof TABS)[number];

const begun = new Set<Tab>();
const beginners: Partial<Record<Tab, () => void>> = {};

function openTab(tab: Tab, focus = false): void {
  for (const name of TABS) {
    const button = byId(`tab-${name}`);
    button.setAttribute("aria-selected", String(name === tab));
    button.tabIndex = name === tab ? 0 : -1;
    byId(name).hidden = name !== tab;
  }
  if (focus) {
    byId(`tab-${tab}`).focus();
  }
  say("");
  if (!begun.has(tab)) {
    begun.add(tab);
    beginners[tab]?.();
  }
  if (location.hash.slice(1) !== tab) {
    history.replaceState(null, "", `#${tab}`);
  }
}

function tabOfAddress(): Tab {
  const wanted = location.hash.slice(1);
  return TABS.find((tab) => tab === wanted) ?? "graphs";
}

function startTabs(): void {
  TABS.forEach((tab, at) => {
    const button = byId(`tab-${tab}`);
    button.addEventListener("click", () => openTab(tab));
    button.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (by) {
        openTab(TABS[(at + by + TABS.length) % TABS.length]!, true);
        event.preventDefault();
      }
    });
  });
  window.addEventListener("hashchange", () => openTab(tabOfAddress()));
}

function startTheme(): void {
  const button = byId("theme");
  const dark = () => {
    const chosen = document.documentElement.dataset["theme"];
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };
  const tell = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", dark() ? "Switch to light colours" : "Switch to dark colours");
    // Canvases take their colours from the style sheet when they draw.
    window.dispatchEvent(new Event(REDRAW));
  };
  const stored = localStorage.getItem("itergnn-theme");
  if (stored) {
    document.documentElement.dataset["theme"] = stored;
  }
  button.addEventListener("click", () => {
    const next = dark() ? "light" : "dark";
    document.documentElement.dataset["theme"] = next;
    localStorage.setItem("itergnn-theme", next);
    tell();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
  tell();
}

function startReport(): () => void {
  const select = byId<HTMLSelectElement>("report-name");
  const frame = byId<HTMLIFrameElement>("report-frame");
  const show = () => {
    frame.src = `/api/reports/${encodeURIComponent(select.value)}`;
  };
  select.addEventListener("change", show);
  return () => {
    get<{ name: string }[]>("/api/reports").then((reports) => {
      fillSelect(
        select,
        reports.map(({ name }) => [name, name]),
      );
      byId("report-none").hidden = reports.length > 0;
      frame.hidden = reports.length === 0;
      if (reports.length > 0) {
        show();
      }
    }, sayError);
  };
}

function start(): void {
  // Enter in a lone field would send its form; nothing here is sent by forms.
  document.querySelectorAll("form").forEach((form) => form.addEventListener("submit", (event) => event.preventDefault()));
  startTheme();
  startTabs();
  const graphs = startGraphs();
  const maps = startMaps();
  const pacman = startPacman();
  beginners.graphs = graphs.begin;
  beginners.maps = maps.begin;
  beginners.pacman = pacman.begin;
  beginners.runs = startRuns().begin;
  beginners.report = startReport();
  get<Model[]>("/api/models").then((models) => {
    graphs.offer(models);
    maps.offer(models);
    pacman.offer(models);
    openTab(tabOfAddress());
  }, sayError);
}

start();
