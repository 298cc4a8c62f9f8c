import {
  type FieldError,
  duplicate,
  absent,
  invalidValue,
  required,
  unsupported,
} from '#sandbox/api-server/errors/field-error.ts';
import {
  fieldsAt,
  listAt,
  numberAt,
  textAt,
  type Fields,
  type KubeObject,
  scalarText,
} from '#sandbox/api-server/wire/object.ts';
import { nameMistake } from './validate-metadata.ts';
import { validateResources } from './validate-resources.ts';

/** Checks a new pod for common mistakes. `pkg/apis/core/validation/validation.go` ValidatePodCreate. */
export function validatePod(pod: KubeObject): FieldError[] {
  return validatePodSpec(fieldsAt(pod, 'spec'), 'spec');
}

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];

/** Checks a pod's spec, in a pod or in a template. */
export function validatePodSpec(spec: Fields, path: string): FieldError[] {
  const containers = listAt(spec, 'containers');
  const initContainers = listAt(spec, 'initContainers');
  const volumes = listAt(spec, 'volumes');
  const volumeNames = volumes.map((volume) => textAt(volume, 'name'));
  return [
    ...validateNames(volumes, `${path}.volumes`),
    ...(containers.length === 0 ? [required(`${path}.containers`)] : []),
    ...validateContainers(containers, `${path}.containers`, volumeNames),
    ...validateContainers(initContainers, `${path}.initContainers`, volumeNames),
    ...oneOf(spec, 'restartPolicy', RESTART_POLICIES, path),
    ...atLeast(spec, 'terminationGracePeriodSeconds', 0, path),
    ...atLeast(spec, 'activeDeadlineSeconds', 1, path),
    ...validateGates(spec, path),
    ...validateTolerations(listAt(spec, 'tolerations'), `${path}.tolerations`),
  ];
}

function validateContainers(containers: readonly Fields[], path: string, volumeNames: readonly string[]): FieldError[] {
  const each = containers.flatMap((container, index) => validateContainer(container, `${path}[${index}]`, volumeNames));
  return [...validateNames(containers, path), ...each];
}

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];

function validateContainer(container: Fields, path: string, volumeNames: readonly string[]): FieldError[] {
  return [
    ...(textAt(container, 'image').trim() === '' ? [required(`${path}.image`)] : []),
    ...oneOf(container, 'imagePullPolicy', PULL_POLICIES, path),
    ...validateResources(fieldsAt(container, 'resources'), `${path}.resources`),
    ...listAt(container, 'ports').flatMap((port, at) => validatePort(port, `${path}.ports[${at}]`)),
    ...listAt(container, 'env').flatMap((variable, at) =>
      textAt(variable, 'name') === '' ? [required(`${path}.env[${at}].name`)] : [],
    ),
    ...listAt(container, 'volumeMounts').flatMap((mount, at) =>
      validateMount(mount, `${path}.volumeMounts[${at}]`, volumeNames),
    ),
  ];
}

const LARGEST_PORT = 65_535;

function validatePort(port: Fields, path: string): FieldError[] {
  const number = numberAt(port, 'containerPort') ?? 0;
  if (number === 0) return [required(`${path}.containerPort`)];
  const range = 'must be between 1 and 65535, inclusive';
  return number < 1 || number > LARGEST_PORT ? [invalidValue(`${path}.containerPort`, number, range)] : [];
}

function validateMount(mount: Fields, path: string, volumeNames: readonly string[]): FieldError[] {
  const name = textAt(mount, 'name');
  return [
    ...(name === '' ? [required(`${path}.name`)] : volumeNames.includes(name) ? [] : [absent(`${path}.name`, name)]),
    ...(textAt(mount, 'mountPath') === '' ? [required(`${path}.mountPath`)] : []),
  ];
}

/** Names inside a pod: present, DNS labels, each only once. */
function validateNames(items: readonly Fields[], path: string): FieldError[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const name = textAt(item, 'name');
    const field = `${path}[${index}].name`;
    if (name === '') return [required(field)];
    const mistake = nameMistake('label', name);
    const repeated = seen.has(name);
    seen.add(name);
    return [
      ...(mistake === undefined ? [] : [invalidValue(field, name, mistake)]),
      ...(repeated ? [duplicate(field, name)] : []),
    ];
  });
}

function validateGates(spec: Fields, path: string): FieldError[] {
  const gates = listAt(spec, 'schedulingGates');
  if (gates.length === 0 || textAt(spec, 'nodeName') === '') return [];
  return [
    { kind: 'Forbidden', field: `${path}.nodeName`, text: 'cannot be set until all schedulingGates have been cleared' },
  ];
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function validateTolerations(tolerations: readonly Fields[], path: string): FieldError[] {
  return tolerations.flatMap((toleration, index) => [
    ...oneOf(toleration, 'operator', ['Equal', 'Exists'], `${path}[${index}]`),
    ...(textAt(toleration, 'effect') === '' ? [] : oneOf(toleration, 'effect', EFFECTS, `${path}[${index}]`)),
  ]);
}

/** A field that, if set, has one of a few values. */
export function oneOf(object: Fields, name: string, values: readonly string[], path: string): FieldError[] {
  const value = object[name];
  return value === undefined || values.includes(scalarText(value))
    ? []
    : [unsupported(`${path}.${name}`, value, values)];
}

/** A number that, if set, is not too small. */
export function atLeast(object: Fields, name: string, least: number, path: string): FieldError[] {
  const value = numberAt(object, name);
  if (value === undefined || value >= least) return [];
  const why = least === 0 ? 'must be greater than or equal to 0' : `must be greater than or equal to ${least}`;
  return [invalidValue(`${path}.${name}`, value, why)];
}
