/** Icons in the text color. They are decorative: a text next to them has the meaning. */
const PATHS = {
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.4 10.4 14 14',
  close: 'M4 4l8 8M12 4l-8 8',
  down: 'M4 6.5 8 10.5 12 6.5',
  up: 'M8 13V3.5M4 7.5 8 3.5l4 4',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  play: 'M5 3.2v9.6L12.5 8Z',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  filter: 'M2.5 4h11M4.5 8h7M6.5 12h3',
  breadcrumbs: 'M3 12.5h2.5v-3H8v-3h2.5v-3H13',
  light:
    'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM8 1.2v1.6M8 13.2v1.6M1.2 8h1.6M13.2 8h1.6M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M3.2 12.8l1.1-1.1M11.7 4.3l1.1-1.1',
  dark: 'M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8Z',
  system: 'M2.5 3.5h11v7h-11ZM6 13.5h4',
  copy: 'M5.5 5.5h7v8h-7ZM3.5 10.5v-8h7',
  exclude: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM4.2 11.8l7.6-7.6',
  check: 'M3.5 8.5 6.5 11.5 12.5 4.5',
  columns: 'M2.5 3.5h11v9h-11ZM6.2 3.5v9M9.8 3.5v9',
  save: 'M4.5 2.5h7v11L8 10.8 4.5 13.5Z',
  feedback: 'M2.5 3.5h11v7h-6l-3 3v-3h-2Z',
  clear: 'M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.6 9h5.8l.6-9',
  export: 'M8 2.5v7M5 7l3 3 3-3M3 13h10',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      class="icon-image"
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
