import { CHART_PLACES, markPlaces } from './chart-places.ts';
import type { Manifest } from '#tools/manifests/manifest.ts';
import { type ChartTree, onlyIf, treeOf } from './chart-tree.ts';
import { fillPlace } from './fill-place.ts';
import { renderChartTree } from './render-chart-tree.ts';
import { weaveVariant } from './weave-variant.ts';

/** The objects of an overlay or a component, and the condition under which the chart renders them. */
export interface ChartOption {
  readonly when: string;
  readonly objects: readonly Manifest[];
  /** A component has only the objects that it adds. */
  readonly isComponent: boolean;
}

/** Our namespaces as the manifests name them, and the helper that renders each from the values. */
const NAMESPACES = { 'plimsoll-system': 'plimsoll.namespace', 'plimsoll-node': 'plimsoll.agentNamespace' } as const;

const SECURITY_LABEL = 'pod-security.kubernetes.io/enforce';
/** The restricted level forbids the network of the host. */
const SECURITY_LEVEL = '{{ ternary "privileged" "restricted" .Values.webhook.hostNetwork }}';

/** The templates of the chart by file name, from deploy/base and the options. */
export function chartTemplates(
  base: readonly Manifest[],
  options: readonly ChartOption[],
): ReadonlyMap<string, string> {
  const files = new Map<string, string[]>();
  const add = (object: Manifest, tree: ChartTree): void => {
    const file = fileOf(object);
    files.set(file, [...(files.get(file) ?? []), renderDocument(tree)]);
  };
  const overlays = options.filter(({ isComponent }) => !isComponent);
  for (const object of base) add(object, conditional(object, templateOf(object, overlays)));
  const ofComponents = options.filter(({ isComponent }) => isComponent).flatMap(({ objects }) => objects);
  for (const { when, objects, isComponent } of options) {
    // Objects that an overlay takes from a component of the chart are rendered under the component's condition.
    const others = isComponent ? base : [...base, ...ofComponents];
    for (const object of objects.filter((each) => find(others, each) === undefined)) {
      // An overlay without the component has not removed its objects.
      const changing = isComponent ? overlays.filter((each) => find(each.objects, object) !== undefined) : [];
      const condition = isOfOwnAuthority(object) ? `and ${when} (not .Values.certManager.issuerRef.name)` : when;
      add(object, { kind: 'either', when: condition, then: templateOf(object, changing), otherwise: undefined });
    }
  }
  return new Map(Array.from(files, ([file, documents]) => [file, documents.join('')]));
}

/** The authority that cert-manager keeps for the chart, unless the values name another issuer. */
function isOfOwnAuthority({ kind, metadata: { name } }: Manifest): boolean {
  return kind === 'Issuer' || (kind === 'Certificate' && name === 'plimsoll-ca');
}

/** The object with what the overlays change in it; those that do not have it remove it. */
function templateOf(object: Manifest, overlays: readonly ChartOption[]): ChartTree {
  let tree = treeOf(object);
  for (const { when, objects } of overlays) {
    const other = find(objects, object);
    if (other === undefined) tree = { kind: 'either', when, then: undefined, otherwise: tree };
    else tree = weaveVariant(tree, { when, base: object, other });
  }
  return filled(object, tree);
}

function find(objects: readonly Manifest[], { kind, metadata }: Manifest): Manifest | undefined {
  return objects.find(
    (each) =>
      each.kind === kind && each.metadata.name === metadata.name && each.metadata.namespace === metadata.namespace,
  );
}

function filled(manifest: Manifest, tree: ChartTree): ChartTree {
  const { kind, metadata } = manifest;
  const object = `${kind} ${metadata.name}`;
  for (const [path, filling] of markings(manifest)) fillPlace(tree, path, filling);
  for (const place of [...CHART_PLACES.filter((each) => each.object === object), ...markPlaces(object, kind)])
    fillPlace(tree, place.path.split('.'), place.tree);
  return tree;
}

/** Labels and annotations whose values or presence Helm decides; their keys have dots. */
function markings({ kind, metadata: { name, labels } }: Manifest): readonly (readonly [string[], ChartTree])[] {
  const action = (key: string, text: string): readonly [string[], ChartTree] => [
    ['metadata', 'labels', key],
    { kind: 'action', text },
  ];
  const manager = 'app.kubernetes.io/managed-by';
  const isManaged = labels !== undefined && manager in labels;
  return [
    ...(isManaged ? [action(manager, '{{ .Release.Service }}')] : []),
    ...(kind === 'CustomResourceDefinition' ? [kept()] : []),
    ...(kind === 'Namespace' && name === 'plimsoll-system' ? [action(SECURITY_LABEL, SECURITY_LEVEL)] : []),
  ];
}

function kept(): readonly [string[], ChartTree] {
  const annotations = treeOf({ 'helm.sh/resource-policy': 'keep' });
  return [['metadata', 'annotations'], onlyIf('.Values.crds.keep', annotations)];
}

function conditional({ kind, metadata: { name } }: Manifest, tree: ChartTree): ChartTree {
  const otherwise = undefined;
  if (kind === 'CustomResourceDefinition')
    return { kind: 'either', when: '.Values.crds.install', then: tree, otherwise };
  // Helm creates the namespace of the release itself, and cannot take over an existing one.
  if (kind !== 'Namespace') return tree;
  const helper = NAMESPACES[name as keyof typeof NAMESPACES];
  return { kind: 'either', when: `ne .Release.Namespace (include "${helper}" .)`, then: tree, otherwise };
}

/** A condition on a whole object encloses its separator, so that an omitted object leaves nothing. */
function renderDocument(tree: ChartTree): string {
  const document = (side: ChartTree): string => withNamespaces(`---\n${renderChartTree(side).join('\n')}\n`);
  if (tree.kind !== 'either') return document(tree);
  const { when, then, otherwise } = tree;
  if (then !== undefined && otherwise === undefined) return `{{- if ${when} }}\n${document(then)}{{- end }}\n`;
  if (then === undefined && otherwise !== undefined)
    return `{{- if not (${when}) }}\n${document(otherwise)}{{- end }}\n`;
  return document(tree);
}

/** Also within expressions, which name the accounts of our namespaces. */
function withNamespaces(document: string): string {
  return Object.entries(NAMESPACES).reduce(
    (text, [name, helper]) =>
      text
        .replaceAll(new RegExp(`(?<=\\b(name|namespace): |- )${name}$`, 'gm'), `{{ include "${helper}" $ | quote }}`)
        .replaceAll(new RegExp(`\\b${name}\\b(?!-)`, 'g'), `{{ include "${helper}" $ }}`),
    document,
  );
}

function fileOf({ kind, metadata: { name, labels = {} } }: Manifest): string {
  if (kind === 'CustomResourceDefinition') return 'custom-resource-definitions.yaml';
  const component = labels['app.kubernetes.io/component'];
  if (typeof component === 'string') return `${component}.yaml`;
  const owner = ['webhook', 'agent', 'controller', 'scheduler', 'extender'].find((each) => name.includes(each));
  return owner === undefined ? 'cluster.yaml' : `${owner.replace('extender', 'scheduler')}.yaml`;
}
