# Prints the headings of makefiles, lines such as "##@ Tests", and below each one its targets with the
# description after "##".

/^##@ / {
  sub(/^##@ /, "")
  print "\n" $0
}

/^[a-z][a-z-]*:.*## / {
  target = description = $0
  sub(/:.*/, "", target)
  sub(/.*## /, "", description)
  printf "  %-16s %s\n", target, description
}
