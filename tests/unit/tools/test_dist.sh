#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# make dist: the same bytes each time, all files of the commit, and what make and make-deb do with
# them without git.
#
#	tests/unit/tools/test_dist.sh BUILD
set -u
work=$1/tests/unit/tools/dist.work
. tests/tap.sh
tap_prefix=dist

if [ ! -e .git ] || ! command -v git > /dev/null; then
	skip "a release is made of a git repository" "there is none"
	done_testing
	exit
fi
rm -rf "$work"
mkdir -p "$work/bin"
work=$(realpath "$work")
version=$(tools/version)

# run FOLDER ARGUMENT...: make there, without the settings of the make that runs this test.
run()
{
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u B make -s -C "$@"
}

one()
{
	(umask 077 && TZ=UTC run . B="$work/one" dist)
}

# Another user, with other settings
two()
{
	(umask 002 && HOME=$work GZIP=-1 TZ=Asia/Tokyo run . B="$work/two" dist)
}

printf '[tar]\n\tumask = 0\n[core]\n\tattributesFile = %s/attributes\n[safe]\n\tdirectory = *\n' \
	"$work" > "$work/.gitconfig"
echo '*.md export-ignore' > "$work/attributes"
tarball=$work/one/dist/ktau-$version.tar.gz
check "a release is made" one
check "it is made again" two
check "the bytes are the same" cmp "$tarball" "$work/two/dist/ktau-$version.tar.gz"

git -c core.quotePath=off ls-tree -r --name-only HEAD | LC_ALL=C sort > "$work/commit"
tar -tzf "$tarball" | grep -v '/$' | sed "s|^ktau-$version/||" | LC_ALL=C sort > "$work/list"
check "it has all files of the commit and no others" diff "$work/commit" "$work/list"
same "they belong to root, and have the date of the commit" \
	"$(TZ=UTC tar --numeric-owner --full-time -tvzf "$tarball" | awk '{ print $2, $4, $5 }' | sort -u)" \
	"0/0 $(TZ=UTC git log -1 --format=%cd --date=format-local:'%Y-%m-%d %H:%M:%S')"

# Below this repository, which is not that of the files; and no command needs git
tree=$work/ktau-$version
tar -xzf "$tarball" -C "$work"
printf '#!/bin/sh\necho "git $*" >> %s/git.log\nexit 1\n' "$work" > "$work/bin/git"
cat > "$work/bin/dpkg-buildpackage" <<- END
	#!/bin/sh
	find . ! -type d | cut -c 3- | LC_ALL=C sort > $work/packed
	cp debian/changelog $work
	exit 1
END
chmod +x "$work/bin/git" "$work/bin/dpkg-buildpackage"
PATH=$work/bin:$PATH
check "make knows how to build everything" run "$tree" -n all
check "a program is built" run "$tree" B=build build/tests/bgl/ciod/ciod
same "it has the version" "$("$tree/build/tests/bgl/ciod/ciod" --version)" "ciod $version"
check "another release is not made of it" sh -c "! $tree/tools/dist 2> $work/said"
check "and the reason is said" grep -q 'no git repository' "$work/said"

env -u B "$tree/tools/debian/make-deb" "$work/deb" > /dev/null 2>&1
{
	cat "$work/list"
	sed -n 's|^tools/debian/|debian/|p' "$work/list"
	echo debian/changelog
} | LC_ALL=C sort | diff - "$work/packed" > "$work/difference"
same "the packages are built from the same files" "$(cat "$work/difference")" ""
same "they have the version" "$(head -n 1 "$work/changelog")" "ktau ($version-1) UNRELEASED; urgency=medium"
same "and the date of the commit" "$(date -d "$(sed -n 's/^ -- .*>  //p' "$work/changelog")" +%s)" \
	"$(stat -c %Y "$tree/Makefile")"
check "nothing calls git" [ ! -e "$work/git.log" ]
rm -rf "$tree" "$work/deb" "$work/one" "$work/two"
done_testing
