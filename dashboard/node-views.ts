import { isFresh, type NodePressure } from '#shared/api/node-pressure.ts';
import { byName } from '#shared/domain/model/texts.ts';
import type { Reflector } from '#shared/kube/reflector/reflector.ts';
import type { DashboardSources } from './sources.ts';
import { nodeView } from './views/node-view.ts';
import type { NodeView } from './views/view.ts';

/** A reflector of NodePressures, as far as views need it. */
export interface NodePressures extends Pick<Reflector<NodePressure>, 'values'> {
  readonly onChange: (listener: () => void) => () => void;
}

/** A view says with its age that its node is unknown, so the age is looked at this often. */
const CHECK_AGE_MS = 1_000;

/**
 * Views by name, the same array for all pages of one second unless an object changes; each view is made again when its
 * object changes, or when its age does what it says.
 */
export function createNodeViews(pressures: NodePressures): DashboardSources['nodes'] {
  const views = new WeakMap<NodePressure, { readonly view: NodeView | undefined; readonly fresh: boolean }>();
  const viewOf = (pressure: NodePressure, now: number): NodeView | undefined => {
    const fresh = isFresh(pressure.status, now);
    const kept = views.get(pressure);
    if (kept?.fresh === fresh) return kept.view;
    const view = nodeView(pressure, now);
    views.set(pressure, { view, fresh });
    return view;
  };
  const viewsAt = (now: number): readonly NodeView[] =>
    [...pressures.values()].flatMap((pressure) => viewOf(pressure, now) ?? []).sort(byName);
  let kept: { readonly at: number; readonly nodes: readonly NodeView[] } | undefined;
  pressures.onChange(() => (kept = undefined));
  return (now) => {
    if (kept === undefined || Math.abs(now - kept.at) >= CHECK_AGE_MS) kept = { at: now, nodes: viewsAt(now) };
    return kept.nodes;
  };
}
