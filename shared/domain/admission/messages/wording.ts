/** A priority class by name. */
export interface NamedClass {
  /** Empty for a pod without a class. */
  readonly priorityClassName: string;
}

/** A priority class and its value. */
export interface GivenClass extends NamedClass {
  readonly priority: number;
}

/** Says which policy decides. */
export interface OfPolicy {
  readonly policy: string;
}

/** The highest priority that a policy allows. */
export interface Ceiling {
  readonly maxPriority: number;
}

/** What went wrong, as a clause. */
export interface Caused {
  readonly cause: string;
}

/** A class by its name. */
export function classNamed(name: string): string {
  return `priority class \`${name}\``;
}

/** A class with its value. */
export function classWithValue({ priorityClassName, priority }: GivenClass): string {
  return `${classNamed(priorityClassName)} (${priority})`;
}

/** Says that a class does not exist. */
export function missing({ priorityClassName }: NamedClass): string {
  return `${classNamed(priorityClassName)} does not exist`;
}

/** A pod by its class. */
export function podOf({ priorityClassName: name }: NamedClass): string {
  return name === '' ? 'a pod without a priority class' : classNamed(name);
}

/** Pods by their class. */
export function podsOf({ priorityClassName: name }: NamedClass): string {
  return name === '' ? 'pods without a priority class' : classNamed(name);
}
