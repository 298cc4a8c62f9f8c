import { eventView } from './event-view.ts';
import { nodeView } from './node-view.ts';
import type { DashboardSources } from './sources.ts';
import type { EventView, View } from './view.ts';

const MOST_EVENTS = 50;

/** Everything the page shows, from what others left in the cluster. `now` is in milliseconds since 1970. */
export function viewOf(sources: DashboardSources, now: number): View {
  const nodes = [...sources.nodePressures()].flatMap((object) => nodeView(object, now) ?? []);
  const events = [...sources.events()].flatMap((object) => eventView(object) ?? []);
  return {
    at: new Date(now).toISOString(),
    nodes: nodes.sort((a, b) => (a.name < b.name ? -1 : 1)),
    events: events.sort(newestFirst).slice(0, MOST_EVENTS),
  };
}

function newestFirst(a: EventView, b: EventView): number {
  if (a.at === b.at) return 0;
  return a.at > b.at ? -1 : 1;
}
