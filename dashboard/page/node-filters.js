/** Which nodes are shown, and in which order. The address holds all of it. */

const COMPARE = {
  name: (a, b) => (a.name < b.name ? -1 : 1),
  state: (a, b) => headroom(a) - headroom(b),
  memory: (a, b) => (b.usedRatio ?? -1) - (a.usedRatio ?? -1),
  headroom: (a, b) => enforcing(a) - enforcing(b) || headroom(a) - headroom(b),
  next: (a, b) => text(a.next).localeCompare(text(b.next)),
  seen: (a, b) => (a.observedAt ?? 0) - (b.observedAt ?? 0),
};

/** Nodes in Enforce mode come before nodes in DryRun mode. */
function enforcing({ mode }) {
  return mode === 'Enforce' ? 0 : 1;
}

/** Nodes without data come last. */
function headroom({ headroomRatio }) {
  return headroomRatio ?? Number.MAX_VALUE;
}

/** Missing values come last. */
function text(value) {
  return value === undefined || value === '' ? '\uffff' : value;
}

export const DEFAULT_SORT = 'headroom';

/** The sort column and direction in an address. */
export function orderOf(params) {
  const column = params.get('sort') ?? DEFAULT_SORT;
  return { column: Object.hasOwn(COMPARE, column) ? column : DEFAULT_SORT, isReversed: params.get('order') === 'desc' };
}

/** The nodes that an address selects, in its order. */
export function selectedNodes(nodes, params) {
  const { column, isReversed } = orderOf(params);
  const shown = [...nodes.values()].filter(filterOf(params));
  shown.sort((a, b) => COMPARE[column](a, b) || COMPARE.name(a, b));
  return isReversed ? shown.reverse() : shown;
}

function filterOf(params) {
  const states = (params.get('state') ?? '').split(',').filter(Boolean);
  const [mode, policy, pod, namespace, words] = ['mode', 'policy', 'pod', 'namespace', 'text'].map((name) =>
    wanted(params, name),
  );
  const isEvicting = params.get('evicting') === 'true';
  return (node) =>
    (states.length === 0 || states.includes(node.state)) &&
    (mode === '' || node.mode.toLowerCase() === mode) &&
    (policy === '' || node.policy.toLowerCase() === policy) &&
    (!isEvicting || node.evicting > 0) &&
    (pod === '' || node.pods.some((each) => each.toLowerCase().includes(pod))) &&
    (namespace === '' || node.pods.some((each) => each.split('/')[0] === namespace)) &&
    (words === '' || searched(node).includes(words));
}

function wanted(params, name) {
  return (params.get(name) ?? '').trim().toLowerCase();
}

function searched({ name, state, mode, next, signals, troubles }) {
  return [name, state, mode, next ?? '', ...signals, ...troubles].join(' ').toLowerCase();
}
