/** A chart, a figure or a table with its queries; half the width of the page unless it says otherwise. */
export interface Panel {
  readonly title: string;
  readonly description: string;
  readonly type: 'timeseries' | 'stat' | 'table';
  /** Grafana's name of the unit. */
  readonly unit: string;
  readonly queries: readonly Query[];
  /** The value from which the panel warns. */
  readonly warnAbove?: number;
  readonly isWide?: boolean;
}

export interface Query {
  readonly expr: string;
  /** Name of the series, with `{{label}}`. */
  readonly legend: string;
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Variables besides data source and cluster, each the values of a label. */
  readonly variables: readonly Variable[];
  readonly panels: readonly Panel[];
}

export interface Variable {
  readonly name: string;
  readonly label: string;
  readonly metric: string;
}

const COLUMNS = 24;
const HEIGHT = 8;
const DATA_SOURCE = { type: 'prometheus', uid: '${datasource}' };
const EVICTIONS =
  'sum by (node) (changes(plimsoll_evictions_total{cluster=~"$cluster",mode="enforce",result="evicted"}[1m])) > 0';

/** The dashboard in Grafana's format. */
export function grafanaJson(dashboard: Dashboard): object {
  const { uid, title, description, variables, panels } = dashboard;
  const cluster = { name: 'cluster', label: 'Cluster', metric: 'plimsoll_build_info' };
  return {
    uid,
    title,
    description,
    tags: ['plimsoll'],
    schemaVersion: 41,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    timezone: 'browser',
    annotations: { list: [annotation()] },
    links: [
      {
        type: 'dashboards',
        title: 'Plimsoll',
        tags: ['plimsoll'],
        asDropdown: true,
        keepTime: true,
        includeVars: true,
      },
    ],
    templating: { list: [dataSourceVariable(), ...[cluster, ...variables].map(variable)] },
    panels: placed(panels),
  };
}

function annotation(): object {
  const look = { enable: true, iconColor: 'red', titleFormat: 'Eviction', textFormat: 'Pods evicted from {{node}}' };
  return { name: 'Evictions', datasource: DATA_SOURCE, expr: EVICTIONS, ...look };
}

function dataSourceVariable(): object {
  return { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' };
}

function variable({ name, label, metric }: Variable): object {
  const within = name === 'cluster' ? '' : '{cluster=~"$cluster"}';
  const all = { includeAll: true, multi: true, allValue: '.*', current: { text: 'All', value: '$__all' } };
  const query = `label_values(${metric}${within}, ${name})`;
  return { name, label, type: 'query', datasource: DATA_SOURCE, query, refresh: 2, sort: 1, ...all };
}

function placed(panels: readonly Panel[]): readonly object[] {
  let x = 0;
  let y = 0;
  return panels.map((panel, index) => {
    const w = panel.isWide === true ? COLUMNS : COLUMNS / 2;
    if (x + w > COLUMNS) {
      x = 0;
      y += HEIGHT;
    }
    const gridPos = { x, y, w, h: HEIGHT };
    x += w;
    return { id: index + 1, gridPos, ...grafanaPanel(panel) };
  });
}

function grafanaPanel({ title, description, type, unit, queries, warnAbove }: Panel): object {
  const isTable = type === 'table';
  const targets = queries.map(({ expr, legend }, index) => ({
    refId: String.fromCharCode(65 + index),
    datasource: DATA_SOURCE,
    expr,
    legendFormat: legend,
    ...(isTable && { format: 'table', instant: true }),
  }));
  const node = isTable ? '${__data.fields.node}' : '${__field.labels.node}';
  const links = queries.some(({ legend }) => legend.includes('{{node}}')) ? { links: [nodeLink(node)] } : {};
  const defaults = { unit, ...links, ...(warnAbove !== undefined && { thresholds: warning(warnAbove) }) };
  const shown =
    type === 'timeseries' && warnAbove !== undefined ? { custom: { thresholdsStyle: { mode: 'line' } } } : {};
  const merged = isTable ? { transformations: [{ id: 'merge', options: {} }] } : {};
  return {
    type,
    title,
    description,
    datasource: DATA_SOURCE,
    fieldConfig: { defaults: { ...defaults, ...shown }, overrides: [] },
    targets,
    ...merged,
  };
}

/** Leads from a node in a panel to its dashboard, at the same time. */
function nodeLink(node: string): object {
  const same = '${datasource:queryparam}&${cluster:queryparam}';
  return { title: `Node ${node}`, url: `/d/plimsoll-node?${same}&var-node=${node}&\${__url_time_range}` };
}

function warning(value: number): object {
  return {
    mode: 'absolute',
    steps: [
      { color: 'green', value: null },
      { color: 'orange', value },
    ],
  };
}
