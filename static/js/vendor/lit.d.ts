// Types for the bundled lit, written by hand and only as wide as our use.

export interface TemplateResult {
  readonly _$litType$: 1 | 2 | 3;
  readonly strings: TemplateStringsArray;
  readonly values: unknown[];
}
export interface DirectiveResult {
  readonly _$litDirective$: unknown;
  readonly values: unknown[];
}
export declare const nothing: unique symbol;
export declare const noChange: unique symbol;
export type Nothing = typeof nothing;
/** What a template may hold: text, templates, lists of them, or nothing. */
export type Renderable =
  | TemplateResult | DirectiveResult | Nothing | typeof noChange | Node
  | string | number | boolean | null | undefined | Iterable<Renderable>;

export declare function html(strings: TemplateStringsArray, ...values: unknown[]): TemplateResult;
export declare function svg(strings: TemplateStringsArray, ...values: unknown[]): TemplateResult;

export interface CSSResult { readonly cssText: string; readonly styleSheet: CSSStyleSheet | undefined }
export declare function css(strings: TemplateStringsArray, ...values: (CSSResult | number)[]): CSSResult;
export declare function unsafeCSS(value: unknown): CSSResult;

export interface RenderOptions { host?: object; renderBefore?: ChildNode | null; isConnected?: boolean }
export interface RootPart { setConnected(isConnected: boolean): void }
export declare function render(value: unknown, container: HTMLElement | DocumentFragment, options?: RenderOptions): RootPart;

export interface PropertyDeclaration {
  attribute?: boolean | string;
  type?: unknown;
  state?: boolean;
  reflect?: boolean;
  noAccessor?: boolean;
  converter?: { fromAttribute?(value: string | null, type?: unknown): unknown; toAttribute?(value: any, type?: unknown): unknown };
  hasChanged?(value: any, old: any): boolean;
}
export type PropertyValues = Map<PropertyKey, unknown>;

export interface ReactiveControllerHost {
  addController(controller: ReactiveController): void;
  removeController(controller: ReactiveController): void;
  requestUpdate(): void;
  readonly updateComplete: Promise<boolean>;
}
export interface ReactiveController {
  hostConnected?(): void;
  hostDisconnected?(): void;
  hostUpdate?(): void;
  hostUpdated?(): void;
}

export declare class ReactiveElement extends HTMLElement implements ReactiveControllerHost {
  static properties: Record<string, PropertyDeclaration>;
  static styles?: CSSResult | CSSResult[];
  isUpdatePending: boolean;
  hasUpdated: boolean;
  readonly renderRoot: HTMLElement | DocumentFragment;
  readonly updateComplete: Promise<boolean>;
  addController(controller: ReactiveController): void;
  removeController(controller: ReactiveController): void;
  requestUpdate(name?: PropertyKey, oldValue?: unknown, options?: PropertyDeclaration): void;
  connectedCallback(): void;
  disconnectedCallback(): void;
  attributeChangedCallback(name: string, old: string | null, value: string | null): void;
  protected createRenderRoot(): HTMLElement | DocumentFragment;
  protected performUpdate(): void;
  protected shouldUpdate(changed: PropertyValues): boolean;
  protected willUpdate(changed: PropertyValues): void;
  protected update(changed: PropertyValues): void;
  protected firstUpdated(changed: PropertyValues): void;
  protected updated(changed: PropertyValues): void;
}
export declare class LitElement extends ReactiveElement {
  protected render(): unknown;
}

export type KeyFn<T> = (item: T, index: number) => unknown;
export declare function repeat<T>(items: Iterable<T>, key: KeyFn<T>, template: (item: T, index: number) => unknown): DirectiveResult;
export declare function repeat<T>(items: Iterable<T>, template: (item: T, index: number) => unknown): DirectiveResult;
export declare function classMap(classes: Record<string, string | boolean | number | null | undefined>): DirectiveResult;
export declare function styleMap(styles: Record<string, string | number | null | undefined>): DirectiveResult;
export declare function live(value: unknown): DirectiveResult;
export declare function keyed(key: unknown, value: unknown): DirectiveResult;
export declare function guard(deps: unknown[] | unknown, value: () => unknown): DirectiveResult;
export declare function cache(value: unknown): DirectiveResult;
export declare function when<T, F = undefined>(condition: unknown, yes: () => T, no?: () => F): T | F;
export declare function ifDefined<T>(value: T): NonNullable<T> | Nothing;

export interface Ref<T = Element> { readonly value?: T }
export declare function createRef<T = Element>(): Ref<T>;
export declare function ref(target: Ref<any> | ((element: Element | undefined) => void) | undefined): DirectiveResult;

export declare const PartType: {
  readonly ATTRIBUTE: 1; readonly CHILD: 2; readonly PROPERTY: 3;
  readonly BOOLEAN_ATTRIBUTE: 4; readonly EVENT: 5; readonly ELEMENT: 6;
};
export interface PartInfo { readonly type: number; readonly name?: string; readonly tagName?: string }
export interface ElementPart { readonly element: Element; readonly options?: RenderOptions }
export declare class Directive {
  constructor(info: PartInfo);
  render(...values: any[]): unknown;
  update(part: any, values: any[]): unknown;
}
export declare class AsyncDirective extends Directive {
  isConnected: boolean;
  setValue(value: unknown): void;
  protected disconnected(): void;
  protected reconnected(): void;
}
export declare function directive<C extends new (info: PartInfo) => Directive>(
  c: C,
): (...values: Parameters<InstanceType<C>['render']>) => DirectiveResult;
